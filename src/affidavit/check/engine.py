"""Runs checks. Whether a fact is absent, too weak, or missing on a rank is decided here and in no check's body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from affidavit.case import SUBJECT, Case, Need
from affidavit.check.finding import Contradiction, Fail, Finding, Pass, Review, Unproven, Verdict
from affidavit.check.rule import Check
from affidavit.fact.errors import refusal
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Ranks, Scope, Term


def owed(check: Check, case: Case) -> bool:
    """Say whether a case owes this check: its roles are offered, and its terms are of scopes the subject has."""
    needs = [Need.parse(need) for need in check.reads]
    if any(need.role != SUBJECT and not case.offers(need.role) for need in needs):
        return False
    names = {need.name for need in expand(check, case)}
    return all(case.vocabulary[name].scope in case.subject.kind.scopes for name in names)


def expand(check: Check, case: Case) -> tuple[Need, ...]:
    """Return the check's needs without wildcards.

    ``lock/*`` stands for every term of that record, on both sides. ``*`` stands for every term in which the ranks of
    the subject must agree and that at least one of them knows.
    """
    found: list[Need] = []
    for need in map(Need.parse, check.reads):
        if need.name != "*":
            found.append(need)
        elif need.role == SUBJECT:
            known = {fact.name for fact in case.subject.facts if isinstance(fact.state, Known)}
            found += [Need(SUBJECT, term.name) for term in case.vocabulary if term.name in known and _shared(term)]
        elif (record := case.records.get(need.role)) is not None:
            for name in dict.fromkeys(fact.name for fact in record.facts):
                found += [Need(SUBJECT, name), Need(need.role, name)]
    return tuple(dict.fromkeys(found))


def _shared(term: Term) -> bool:
    return term.scope is Scope.RANK and term.ranks is Ranks.SAME


def run(check: Check, case: Case) -> Finding:
    """Return what a check says of a case."""
    for need, applies in check.when:
        if (missing := reveal(case, Need.parse(need))) is not None:
            return _finding(check, case, Verdict.UNKNOWN, f"{need}: {missing.why}", cause=missing.cause)
        if not any(applies(value) for _, value in case.values(need)):
            return _finding(check, case, Verdict.NOT_APPLICABLE, f"{need} is {case.value(need)}")
    needs = expand(check, case)
    for wanted in needs:
        if (missing := reveal(case, wanted)) is not None:
            return _finding(check, case, Verdict.UNKNOWN, f"{wanted}: {missing.why}", cause=missing.cause)
    outcome = check.judge(case)
    cites = tuple(map(str, needs))
    if isinstance(outcome, Pass):
        if outcome.examined <= 0:
            return _finding(check, case, Verdict.UNKNOWN, "nothing was examined", cause=Cause.ABSENT)
        return replace(_finding(check, case, Verdict.PASS, ""), examined=outcome.examined, cites=cites)
    if isinstance(outcome, Unproven):
        return _finding(check, case, Verdict.UNKNOWN, outcome.why, cause=Cause.UNDECIDED)
    if isinstance(outcome, Review) and _accepted(outcome, case):
        message = f"accepted in the lock: {', '.join(outcome.accept)}"
        return replace(_finding(check, case, Verdict.PASS, message), examined=len(outcome.accept), cites=cites)
    verdict = Verdict.FAIL if isinstance(outcome, Fail) else Verdict.REVIEW
    said = _contradiction(check, outcome)
    finding = _finding(check, case, verdict, _message(check, said))
    return replace(finding, contradiction=said, sites=outcome.sites, cites=cites)


def judge(checks: Iterable[Check], case: Case) -> tuple[Finding, ...]:
    """Return the findings of every owed check, in every episode of the subject, in the order of the checks."""
    chosen = tuple(check for check in checks if owed(check, case))
    found: list[Finding] = []
    for episode in range(max(case.subject.episodes, 1)):
        at = replace(case, episode=episode)
        found += [run(check, at) for check in chosen if episode == 0 or _speaks_of_ranks(check, at)]
    return tuple(found)


def reveal(case: Case, need: Need) -> Unknown | None:
    """Return why a needed fact is not known well enough, or None where it is."""
    record = case.records.get(need.role)
    if record is None:
        return Unknown(Cause.ABSENT, f"there is no {need.role} record")
    term = case.vocabulary[need.name]
    facts = case.facts(str(need))
    for fact in facts:
        if isinstance(fact.state, Unknown):
            return Unknown(fact.state.cause, fact.state.why or fact.state.cause.value)
        if not term.satisfied_by(fact.state.method):
            known, least = fact.state.method.name, term.least.name
            return Unknown(Cause.BELOW_LEAST, f"known only as {known} ({fact.state.source}); {least} is needed")
    if not facts:
        return Unknown(Cause.ABSENT, "nothing in the record speaks of it")
    if term.scope is Scope.RANK and need.role == SUBJECT:
        seen = {rank for fact in facts for rank in fact.ranks if isinstance(fact.state, Known)}
        missing = sorted(set(range(record.world)) - seen)
        if missing:
            return Unknown(Cause.RANK_MISSING, f"not seen on rank {', '.join(map(str, missing))} of {record.world}")
    return None


def _accepted(outcome: Review, case: Case) -> bool:
    if not outcome.accept or not case.offers("lock"):
        return False
    known = all(reveal(case, Need("lock", name)) is None for name in outcome.accept)
    return known and not any(case.differ(name, f"lock/{name}") for name in outcome.accept)


def _speaks_of_ranks(check: Check, case: Case) -> bool:
    return any(case.vocabulary[need.name].scope is Scope.RANK for need in expand(check, case))


def _contradiction(check: Check, outcome: Fail | Review) -> Contradiction:
    return Contradiction(
        expected=outcome.expected,
        saw=outcome.saw.removesuffix("."),
        means=outcome.means,
        action=outcome.action or f'Run "affidavit explain {check.id}".',
    )


def _message(check: Check, said: Contradiction) -> str:
    return refusal(
        subject=check.id,
        expected=said.expected,
        saw=said.saw,
        means=said.means.replace("\n", "⏎"),  # a value in them must not forge a line of ours
        action=said.action.replace("\n", "⏎"),
        unaffected=check.unaffected,
    )


def _finding(check: Check, case: Case, verdict: Verdict, message: str, *, cause: Cause | None = None) -> Finding:
    return Finding(
        check=check.id,
        landmine=check.landmine,
        verdict=verdict,
        message=message,
        cites=check.reads,
        cause=cause,
        episode=case.episode,
        unaffected=check.unaffected,
    )
