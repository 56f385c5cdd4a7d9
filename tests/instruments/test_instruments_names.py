"""Names that nobody reads are told with the one that was meant; one that was in its place once is in its place."""

from __future__ import annotations

import sys

import pytest
from spoken import Voice

from affidavit.attach.moment import Handed, StepEnd
from affidavit.instruments.names import HandedNames
from affidavit.names import consumed

STRAY = "pading_side"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script of these calls is nobody: other test modules of this process say the same misspelt words."""
    monkeypatch.setattr(consumed, "_own_files", lambda: iter(()))
    monkeypatch.setattr(sys.modules["__main__"], "__file__", __file__, raising=False)  # a worker's has none


def _said(*moments: Handed) -> Voice:
    instrument = HandedNames()
    voice = Voice(instrument)
    for moment in moments:
        instrument.handed(moment, voice.emit)
    instrument.report(StepEnd(step=2), voice.emit)
    return voice


def _handed(*, astray: bool, line: int = 3, sure: bool = False, name: str = STRAY) -> Handed:
    return Handed(
        callee="AutoTokenizer.from_pretrained",
        names=(name, "revision"),
        astray={name: "init_kwargs"} if astray else {},
        known=("padding_side", "revision"),
        sure={name: "revision"} if sure else {},
        path="train.py",
        line=line,
    )


def test_a_stray_name_is_told_with_its_place_and_what_was_meant() -> None:
    voice = _said(_handed(astray=True))
    assert voice.counts("names.handed") == {"AutoTokenizer.from_pretrained": 2}
    (row,) = voice.known("names.swallowed").rows
    assert row == ("train.py", 3, "AutoTokenizer.from_pretrained", STRAY, "padding_side", "init_kwargs")


def test_nothing_handed_is_known_too() -> None:
    voice = _said()
    assert voice.counts("names.handed") == {}
    assert voice.known("names.swallowed").rows == ()


def test_a_name_that_was_taken_in_one_call_is_no_stray() -> None:
    assert _said(_handed(astray=True), _handed(astray=False)).known("names.swallowed").rows == ()
    assert len(_said(_handed(astray=True), _handed(astray=False, line=9)).known("names.swallowed").rows) == 1


def test_a_word_that_others_know_is_told_only_where_it_was_seen_to_be_dropped() -> None:
    assert _said(_handed(astray=True, name="nodeid")).known("names.swallowed").rows == ()
    (row,) = _said(_handed(astray=True, name="nodeid", sure=True)).known("names.swallowed").rows
    assert row[3:5] == ("nodeid", "revision")


def test_a_place_is_told_once() -> None:
    voice = _said(_handed(astray=True), _handed(astray=True))
    assert voice.counts("names.handed") == {"AutoTokenizer.from_pretrained": 2}
    assert len(voice.known("names.swallowed").rows) == 1
