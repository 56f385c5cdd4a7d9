"""What a run trains, on which code and with which settings, is the same in all of its attempts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from affidavit.case import SUBJECT, Case, Need, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.check.engine import reveal
from affidavit.fact.term import Category
from affidavit.fact.values import Table, Value
from affidavit.record.compare import display

ATTEMPTS = ("attempt", "restart", "came", "rank", "began_at", "last_step", "loaded", "saves")
COLUMNS = ("path", "attempt")
SAMPLED = ("tokens.", "weights.", "optimizer.unowned")
"""What is accepted once a run and still depends on the rows of a step, or on what was loaded."""
EDITED = "run.edited"
OF_THE_WORLD = ("batch.effective",)


def goes_on(attempts: Value) -> bool:
    """Say whether the last attempt goes on with what an earlier one began, and is no new try by hand."""
    rows = attempts.records(came=str, loaded=str) if isinstance(attempts, Table) else ()
    return bool(rows) and (rows[-1]["came"] in ("requeued", "restarted") or "loop" in str(rows[-1]["loaded"]))


@check(
    "meaning-held",
    needs=("run.ranks", "parent/run.ranks", EDITED),
    when=(("run.attempts", goes_on),),
    landmine=Landmine.LIVENESS,
    unaffected="each attempt by itself",
)
def meaning_held(case: Case) -> Outcome:
    """A requeued job reads its config anew: who edited it meanwhile goes on with another training in the same run.

    The sealed record of an earlier attempt is held against this one: what the lock would hold, what was asked for, and
    the bytes of the code that both executed; a commit may move and leave them as they are. Another number of ranks is
    no contradiction, and still another batch, so it is shown. A new try by hand that loads nothing is a training of its
    own.

    Source: DESIGN D22. Blind to: an attempt that was never sealed; the content of data files; code that only one
    attempt executed; what differs from step to step.
    """
    found = tuple(_differences(case))
    changed = [one for one in found if one.name not in OF_THE_WORLD or not _worlds_differ(case)]
    if changed:
        return Fail(
            expected="; ".join(f"{one.name} {one.before}" for one in changed[:5]) + " (an earlier attempt)",
            saw="; ".join(f"{one.name} {one.now}" for one in changed[:5]) + " (this attempt)",
            means="One run holds two trainings, and its result is of neither.",
            action="Start the changed training as a run of its own.",
            sites=tuple(Site(key=one.name) for one in changed),
        )
    if _worlds_differ(case):
        return Review(
            expected=f"{case.value('parent/run.ranks')} ranks, as in an earlier attempt",
            saw=f"{case.value('run.ranks')} ranks",
            means="Rows a step, and with them the schedule, may be others than those that the run began with.",
            accept=OF_THE_WORLD,
            sites=(Site(key="run.ranks"),),
        )
    return Pass(examined=sum(1 for _ in _comparable(case)))


@dataclass(frozen=True, kw_only=True)
class _Changed:
    name: str
    before: str
    now: str


def _worlds_differ(case: Case) -> bool:
    return case.value("run.ranks") != case.value("parent/run.ranks")


def _comparable(case: Case) -> Iterator[str]:
    """Yield the terms that both attempts know."""
    yield "run.ranks"
    for term in case.vocabulary:
        is_config = term.lock and term.category is Category.MEANING and not term.name.startswith(SAMPLED)
        if is_config and all(reveal(case, Need(role, term.name)) is None for role in (SUBJECT, "parent")):
            yield term.name


def _differences(case: Case) -> Iterator[_Changed]:
    edited = case.value(EDITED)
    for row in edited.records(path=str) if isinstance(edited, Table) else ():
        yield _Changed(name=str(row["path"]), before="as it was", now="edited since")
    for name in _comparable(case):
        ours, theirs = case.request(name), case.request(f"parent/{name}")
        now, before = case.values(name), case.values(f"parent/{name}")
        if name != "run.ranks" and {repr(value) for _, value in now} != {repr(value) for _, value in before}:
            yield _Changed(name=name, before=_shown(before), now=_shown(now))
        elif ours is not None and theirs is not None and ours.value != theirs.value:
            yield _Changed(name=name, before=_asked(theirs.value), now=_asked(ours.value))


def _shown(values: tuple[tuple[tuple[int, ...], Value], ...]) -> str:
    return " and ".join(display(value) for _, value in values)


def _asked(value: Value) -> str:
    return f"asked as {display(value)}"


@meaning_held.healthy
def example() -> Case:
    row = (1, 0, "requeued", 0, 20, 60, "loop, optimizer", 1)
    run: dict[str, Value] = {
        "run.ranks": 2,
        "optimizer.learning_rate": 0.1,
        "batch.effective": 8,
    }
    tried: dict[str, Value] = {"run.attempts": Table(ATTEMPTS, (row,)), EDITED: Table(COLUMNS, ())}
    return case_of(run={**run, **tried}, parent=run, ranks=2)


@meaning_held.sabotage("the job came back on more ranks", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.falsified("run.ranks")


@meaning_held.sabotage("the job had begun on more ranks", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.falsified("parent/run.ranks")


@meaning_held.sabotage("another learning rate than before")
def _(case: Case) -> Case:
    rate = "optimizer.learning_rate"
    (fact,) = example().subject.find(rate)
    if not case.facts(rate):
        case = case.with_record(SUBJECT, case.subject.with_facts((*case.subject.facts, fact)))
    if not case.facts(f"parent/{rate}"):
        parent = case.records["parent"]
        case = case.with_record("parent", parent.with_facts((*parent.facts, fact)))
    return case.falsified(f"parent/{rate}")


@meaning_held.sabotage("the script was edited while the job waited")
def _(case: Case) -> Case:
    return case.altered(EDITED, Table(COLUMNS, (("train.py", 0),)))
