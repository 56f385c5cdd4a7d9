"""A session spares a process that is slow, for good, and says nothing once it is closed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from affidavit.attach.bench import SLOW_ALLOWED
from affidavit.attach.guard import TimeLimitPassed
from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.launch import Launch
from affidavit.attach.moment import StepBegin, TrainBegin, TrainEnd
from affidavit.attach.session import Session, Standing
from affidavit.fact import folder
from affidavit.fact.journal import Reading, read
from affidavit.fact.observation import Aspect, Cause, Unknown
from affidavit.fact.term import Method, Scope, Term, Vocabulary

ROWS = tuple(f"demo.row{place}" for place in range(SLOW_ALLOWED + 1))
WORDS = Vocabulary(
    Term(name=name, type=int, unit="", scope=Scope.RANK, least=Method.INSPECTED, meaning="a number") for name in ROWS
)
SLOW: set[str] = set()
"""The instruments that pass their limits."""
CALLS: list[str] = []


class _Row(Instrument):
    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        CALLS.append(self.name)
        if self.name in SLOW:
            raise TimeLimitPassed  # as the timer does; under pytest there is none that is ours to set
        emit.known(self.emits[0], 1, source="the beginning", method=Method.INSPECTED)


KINDS = tuple(type(name, (_Row,), {"name": name, "emits": (name,)}) for name in ROWS)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    SLOW.clear()
    CALLS.clear()
    found = Session(
        Launch(run="life", folder=str(tmp_path), spool=str(tmp_path)), WORDS, KINDS, {}, lambda: Standing(0, 1)
    )
    yield found
    found.detach()


def train(session: Session) -> None:
    session.fire(TrainBegin(driver="test", model=None, optimizer=None))
    for step in (1, 2, 3):
        session.step_begin(step)
        session.step_end(step)
    session.fire(TrainEnd(step=3))


def reading(session: Session) -> Reading:
    (path,) = folder.journals(Path(session.launch.spool))
    return read(path)


def causes(session: Session, episode: int) -> list[Any]:
    seen = [one for one in reading(session).observations if one.episode == episode and one.aspect is Aspect.RESOLVED]
    return [one.state.cause for one in seen if isinstance(one.state, Unknown)]


def test_a_process_that_was_too_slow_is_spared_in_its_next_training_too(session: Session) -> None:
    SLOW.update(ROWS)
    train(session)
    assert list(ROWS[:SLOW_ALLOWED]) == CALLS
    train(session)
    assert list(ROWS[:SLOW_ALLOWED]) == CALLS
    assert [causes(session, episode) for episode in (0, 1)] == [[Cause.TIME_LIMIT] * len(ROWS)] * 2


def test_one_that_hangs_in_every_training_is_one_too_many(session: Session) -> None:
    SLOW.add(ROWS[0])
    for _ in range(SLOW_ALLOWED + 2):
        train(session)
    assert CALLS.count(ROWS[0]) == SLOW_ALLOWED
    assert causes(session, 0) == [Cause.TIME_LIMIT]
    assert causes(session, SLOW_ALLOWED) == [Cause.TIME_LIMIT] * len(ROWS)


def test_a_training_after_the_end_of_the_process_is_met_with_silence(
    session: Session, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in an ``atexit`` of the script's own that was registered before ours."""
    refused: list[str] = []
    monkeypatch.setitem(
        sys.modules, "_affidavit_early", SimpleNamespace(refuse=refused.append, listing=SimpleNamespace(late=False))
    )
    session.note("before there is a journal")
    train(session)
    session.close("exited")
    lines = reading(session)
    train(session)
    session.beat(9)
    session.note("after its end")
    assert refused == ["before there is a journal"]
    assert capsys.readouterr() == ("", "")
    assert reading(session) == lines and lines.closed == "exited"


def test_a_hook_that_fires_does_not_call_itself(session: Session) -> None:
    told: list[int] = []

    def tell() -> None:
        told.append(1)
        if len(told) < 5:
            session.fire(StepBegin(step=1))

    session.after(TrainBegin, 1, tell)
    train(session)
    assert told == [1]
