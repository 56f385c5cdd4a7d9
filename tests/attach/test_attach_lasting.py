"""An instrument that lasts looks at steps that double, when something asks for it, and once at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from affidavit.attach.instrument import Emit, Instrument, ReadBack, at
from affidavit.attach.launch import Launch
from affidavit.attach.moment import Asked, Look, StepEnd, TrainBegin, TrainEnd, Unheard
from affidavit.attach.session import Session, Standing
from affidavit.fact import folder
from affidavit.fact.journal import read
from affidavit.fact.observation import Aspect, Cause, Known, Unknown
from affidavit.fact.term import Method, Scope, Term, Vocabulary


class Model:
    """Anything that can be referred to weakly."""


ROWS = ("demo.rate", "demo.sampled")
WORDS = Vocabulary(
    Term(name=name, type=int, unit="", scope=Scope.RANK, least=Method.INSPECTED, meaning="a number") for name in ROWS
)
LOOKS: list[tuple[int, bool, bool]] = []
PULSES: list[int] = []
ASKS: set[int] = set()


class Lasting(ReadBack):
    name = "lasting"
    emits = ("demo.rate",)
    lasting = True

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        emit.each_step(self._pulse)

    def _pulse(self, step: int) -> bool:
        PULSES.append(step)
        return step in ASKS

    @at(Look)
    def look(self, moment: Look, emit: Emit) -> None:
        LOOKS.append((moment.step, moment.model is not None, moment.last))
        emit.known("demo.rate", moment.step, source="a look", method=Method.INSPECTED)


class Broken(Instrument):
    name = "broken"
    emits = ("demo.sampled",)

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        emit.each_step(self._pulse)

    def _pulse(self, step: int) -> bool:
        raise ValueError("a pulse of ours")

    @at(StepEnd, sampled=True)
    def end(self, moment: StepEnd, emit: Emit) -> None:
        emit.known("demo.sampled", moment.step, source="the sampled step", method=Method.INSPECTED)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    for seen in (LOOKS, PULSES, ASKS):
        seen.clear()
    launch = Launch(run="lasting", folder=str(tmp_path), spool=str(tmp_path))
    found = Session(launch, WORDS, (Lasting, Broken), {}, lambda: Standing(0, 1))
    yield found
    found.detach()


def train(session: Session, steps: int, *, first: int = 1, end: bool = True, model: object | None = None) -> None:
    session.fire(TrainBegin(driver="test", model=model, optimizer=model))
    for step in range(first, first + steps):
        session.step_begin(step) if session.counts else None
        session.pulse(step)
        session.step_end(step) if session.counts else session.beat(step)
    if end:
        session.fire(TrainEnd(step=first + steps - 1))


def said(session: Session, term: str) -> list[Known | Unknown]:
    (path,) = folder.journals(Path(session.launch.spool))
    return [seen.state for seen in read(path).observations if seen.term == term and seen.aspect is Aspect.RESOLVED]


def test_looks_come_at_steps_that_double_and_at_the_end(session: Session) -> None:
    train(session, 20)
    assert [step for step, _, _ in LOOKS] == [4, 8, 16, 20]
    assert [last for _, _, last in LOOKS] == [False, False, False, True]
    last = said(session, "demo.rate")[-1]
    assert isinstance(last, Known) and last.value == 20


def test_a_resumed_training_counts_from_where_it_began(session: Session) -> None:
    train(session, 9, first=1001)
    assert [step for step, _, _ in LOOKS] == [1004, 1008, 1009]


def test_every_step_has_its_pulse_and_a_pulse_may_ask_for_a_look(session: Session) -> None:
    ASKS.add(11)
    train(session, 12)
    assert list(range(1, 13)) == PULSES
    assert [step for step, _, _ in LOOKS] == [4, 8, 11, 12]


def test_after_a_validation_the_next_step_is_looked_at(session: Session) -> None:
    train(session, 5, end=False)
    session.look_soon()
    session.beat(6)
    session.beat(7)
    assert [step for step, _, _ in LOOKS] == [4, 6]


def test_a_pulse_that_raises_is_dropped_and_noted_and_the_others_go_on(session: Session) -> None:
    train(session, 3)
    (path,) = folder.journals(Path(session.launch.spool))
    assert [note for note in read(path).notes if "Broken._pulse" in note]
    assert PULSES == [1, 2, 3]


def test_a_training_that_ends_before_its_first_look_has_one(session: Session) -> None:
    train(session, 1)
    assert LOOKS == [(1, False, True)]


def test_the_process_may_end_without_the_training_saying_so(session: Session) -> None:
    model = Model()
    train(session, 5, end=False, model=model)
    session.close("exited")
    assert LOOKS[-1] == (5, True, True)


def test_after_the_end_nobody_looks_again(session: Session) -> None:
    train(session, 5)
    count = len(LOOKS)
    session.beat(100)
    session.close("exited")
    assert len(LOOKS) == count


def test_a_model_that_the_run_let_go_is_not_kept_for_a_look(session: Session) -> None:
    model: Model | None = Model()
    train(session, 4, end=False, model=model)
    del model
    session.fire(TrainEnd(step=4))
    assert LOOKS == [(4, True, False), (4, False, True)]


def test_a_forked_child_has_no_pulse(session: Session) -> None:
    train(session, 3, end=False)
    session.detach()
    session.pulse(4)
    session.beat(8)
    assert PULSES == [1, 2, 3] and LOOKS == []


def test_a_request_stands_beside_its_result(session: Session) -> None:
    session.fire(Asked(subject="demo.rate", value=7, source="Arguments(rate=7)"))
    train(session, 4)
    (path,) = folder.journals(Path(session.launch.spool))
    asked = [seen.state for seen in read(path).observations if seen.aspect is Aspect.REQUESTED]
    assert asked == [Known(7, Method.DECLARED, "Arguments(rate=7)")]


def test_where_a_request_passed_unheard_the_result_cannot_be_judged(session: Session) -> None:
    session.fire(Unheard(subject="demo.rate", cause=Cause.REPLACED, why="other code"))
    train(session, 4)
    assert said(session, "demo.rate") == [Unknown(Cause.REPLACED, "other code")]
