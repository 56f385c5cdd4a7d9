"""The word for a guard follows from what was seen of it; what two workers saw is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from affidavit.pytest_plugin.evidence import Disarm, Ending, Evidence, Word, packed, unpacked

ASSERTED, CRASHED, HUNG, PASSED, SKIPPED = (
    Ending.ASSERTED,
    Ending.CRASHED,
    Ending.HUNG,
    Ending.PASSED,
    Ending.SKIPPED,
)


def seen(*endings: Ending, reached: bool = True, error: str = "", unasked: int = 0) -> Evidence:
    disarms = [
        Disarm(at=f"m.py:{line}", operator="boundary", was="<", becomes="<=", text="", ending=ending)
        for line, ending in enumerate(endings)
    ]
    return Evidence(
        test="t", target="m:f", is_reached=reached, disarms=tuple(disarms), error=error, unasked=unasked, seconds=1.0
    )


@pytest.mark.guards("affidavit.pytest_plugin.evidence:Evidence.word", property="only assertions prove a guard")
@pytest.mark.guards("affidavit.pytest_plugin.evidence:Evidence.blocks", property="who would not say no ends the run")
def test_the_word_follows_from_what_was_seen() -> None:
    for evidence, word, blocks in (
        (seen(ASSERTED, CRASHED, HUNG), Word.PROVED, False),
        (seen(ASSERTED, PASSED), Word.WEAK, False),
        (seen(ASSERTED, SKIPPED), Word.WEAK, False),
        (seen(CRASHED, HUNG), Word.INERT, True),
        (seen(PASSED), Word.INERT, True),
        (seen(reached=False), Word.NOT_REACHED, True),
        (seen(), Word.ERROR, False),
        (seen(ASSERTED, unasked=1), Word.ERROR, False),
        (seen(reached=False, error="skipped"), Word.ERROR, False),
        (replace(seen(error="no such name"), is_declared_wrong=True), Word.ERROR, True),
    ):
        assert (evidence.word, evidence.blocks) == (word, blocks)


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        ((PASSED, CRASHED), (ASSERTED, PASSED), [ASSERTED, CRASHED]),
        ((ASSERTED,), (CRASHED,), [ASSERTED]),
        ((CRASHED,), (ASSERTED,), [ASSERTED]),
        ((), (CRASHED,), [CRASHED]),
    ],
)
def test_a_disarm_is_caught_where_either_worker_caught_it(
    one: Sequence[Ending], other: Sequence[Ending], joined: list[Ending]
) -> None:
    merged = seen(*one, reached=bool(one)).merged(seen(*other))
    assert [disarm.ending for disarm in merged.disarms] == joined and merged.is_reached and merged.seconds == 2.0


def test_what_was_seen_counts_before_what_was_not() -> None:
    held, not_run = seen(ASSERTED), seen(reached=False, error="not run")
    assert held.merged(not_run) == held == not_run.merged(held)
    assert unpacked(packed(held)) == held
