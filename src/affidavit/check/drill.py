"""Proves that a check can fail: every sabotage, derived and written, on a case on which it passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from affidavit.case import SUBJECT, Case, Need
from affidavit.check.engine import expand, run
from affidavit.check.finding import Verdict
from affidavit.check.rule import Break, Check, Sabotage
from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Known
from affidavit.fact.term import Scope
from affidavit.fact.values import Table, Value


class DrillRefusedError(AffidavitError):
    """The check does not pass on this case, so breaking the case would prove nothing."""


@dataclass(frozen=True)
class Proof:
    """One sabotage and what the check said of it: caught only where it said exactly what was expected."""

    sabotage: str
    expect: Verdict
    got: Verdict

    @property
    def caught(self) -> bool:
        return self.got is self.expect


@dataclass(frozen=True)
class Drill:
    """All proofs of one check on one case, and the needed values that no sabotage of the author's moves."""

    check: str
    proofs: tuple[Proof, ...]
    unread: tuple[str, ...]

    @property
    def caught(self) -> bool:
        return bool(self.proofs) and all(proof.caught for proof in self.proofs)


def drill(check: Check, case: Case) -> Drill:
    """Return what every sabotage of a check did on this case.

    Raises:
        DrillRefusedError: the check does not pass on the unbroken case.
        InertSabotageError: a sabotage changes nothing.

    Blind to: faults that no instrument can see; those are what the world sabotages under ``tests/world`` are for.
    """
    whole = run(check, case)
    if whole.verdict is not Verdict.PASS:
        raise DrillRefusedError(
            f"{check.id}: drilled only where it passes; here it says {whole.verdict.value}: {whole.message}"
        )
    proofs: list[Proof] = []
    moved: set[str] = set()
    for sabotage in check.sabotages:
        broken = sabotage.apply(case)
        moved |= _moved(check, case, broken)
        proofs.append(Proof(sabotage.name, sabotage.expect, run(check, broken).verdict))
    for sabotage in derived(check, case):
        proofs.append(Proof(sabotage.name, sabotage.expect, run(check, sabotage.apply(case)).verdict))
    return Drill(check.id, tuple(proofs), tuple(part for part in _parts(check, case) if part not in moved))


def derived(check: Check, case: Case) -> Iterator[Sabotage]:
    """Yield the sabotages of absence that the engine makes for each need."""
    wildcards = {need.role for need in map(Need.parse, check.reads) if need.name == "*"}
    written = set(map(Need.parse, check.reads))
    for need in expand(check, case):
        name = str(need)
        # A wildcard asks for what a record holds: a term that is gone from that record is no longer asked for.
        if need in written or need.role not in wildcards:
            yield _absence(f"{name} was never seen", partial(Case.without, need=name))
        if need in written or need.role == SUBJECT:
            yield _absence(f"{name} is known by too weak a method", partial(Case.downgraded, need=name))
        ranked = case.vocabulary[need.name].scope is Scope.RANK and need.role == SUBJECT
        if ranked and case.subject.world > 1:
            yield _absence(f"{name} is missing on the last rank", partial(Case.without, need=name, rank=-1))
    for need in map(Need.parse, check.reads):
        if need.role != SUBJECT and need.name != "*":
            yield _absence(f"there is no {need.role} record", partial(Case.without_role, role=need.role))


def _absence(name: str, apply: Break) -> Sabotage:
    return Sabotage(name, apply, Verdict.UNKNOWN)


def _parts(check: Check, case: Case) -> Iterator[str]:
    """Yield each needed value, a table's by column; a condition only opens the check, so nothing need move it."""
    conditions = {Need.parse(need) for need, _ in check.when} - set(map(Need.parse, check.needs))
    for need in expand(check, case):
        if need in conditions:
            continue
        for _, value in case.values(str(need))[:1]:
            columns = value.columns if isinstance(value, Table) else ()
            yield from (f"{need} [{column}]" for column in columns) if columns else (str(need),)


def _moved(check: Check, case: Case, broken: Case) -> set[str]:
    found: set[str] = set()
    for need in expand(check, case):
        before, after = _values(case, need), _values(broken, need)
        if before == after:
            continue
        found.add(str(need))
        for old, new in zip(before, after):
            if isinstance(old, Table) and isinstance(new, Table):
                columns = [c for c in old.columns if len(old.rows) != len(new.rows) or old.column(c) != new.column(c)]
                found |= {f"{need} [{column}]" for column in columns}
    return found


def _values(case: Case, need: Need) -> list[Value]:
    states = [(fact.state, fact.request) for fact in case.facts(str(need))]
    values = [state.value for state, _ in states if isinstance(state, Known)]
    return values + [request.value for _, request in states if request is not None]
