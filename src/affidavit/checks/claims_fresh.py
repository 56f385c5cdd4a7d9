"""The code that a number was measured on is still the code that is there."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Table, Value

WORDS = ("path", "line", "claim", "said")
DAILY, RELEASE = "every day", "release"
_EXPECTED = "the code that was measured (its digests in measurements.jsonl)"
_ACTION = 'Measure again with "affidavit measure", or take the claim back with "affidavit claims supersede".'


def _is_some(covered: Value) -> bool:
    return isinstance(covered, int) and covered > 0


@check(
    "claims-fresh",
    needs=("claims.stale", "claims.occasion"),
    when=(("claims.covered", _is_some),),
    landmine=Landmine.NUMBERS,
    unaffected="claims whose code did not change, and every other check",
)
def claims_fresh(case: Case) -> Outcome:
    """A number outlives the code that it was measured on, and says nothing of the code that took its place.

    A measurement keeps the digest of each function or file it covers, without comments and layout. Where one moved, the
    number waits for a person; for a release it must be measured again.

    Source: playbook §4.7.
    Blind to: what the covered code calls; data, devices and packages that changed; claims that cover nothing.
    """
    stale = case.value("claims.stale")
    covered = case.value("claims.covered")
    assert isinstance(stale, Table) and isinstance(covered, int)
    rows = stale.records()
    if not rows:
        return Pass(covered)
    sites = tuple(
        Site(path=str(row["path"]), line=int(row["line"]), key=str(row["claim"]), said=str(row["said"])) for row in rows
    )
    told = [*dict.fromkeys(f"{row['claim']}: {row['said']}" for row in rows)]
    saw = "; ".join(told[:3]) + (f" and {len(told) - 3} more" if len(told) > 3 else "")
    if case.value("claims.occasion") == RELEASE:
        means = "A release would state numbers of code that it does not hold."
        return Fail(expected=_EXPECTED, saw=saw, means=means, action=_ACTION, sites=sites)
    means = "The number may be right by luck; a release refuses it."
    return Review(expected=_EXPECTED, saw=saw, means=means, accept=(), action=_ACTION, sites=sites)


@claims_fresh.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "claims.covered": 7,
        "claims.stale": Table(WORDS, ()),
        "claims.occasion": RELEASE,
    }
    return case_of(run=run)


_MOVED = ("README.md", 12, "lint-cold", "src/lint/project.py:lint changed since 2026-11-30")


@claims_fresh.sabotage("the function that was measured is another by now")
def _(case: Case) -> Case:
    return case.altered("claims.stale", Table(WORDS, (_MOVED,)))


@claims_fresh.sabotage("it is another, and nobody releases anything", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("claims.stale", Table(WORDS, (_MOVED,))).altered("claims.occasion", DAILY)
