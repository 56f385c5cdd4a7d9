"""A step learns from as many rows as its script asked for."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.observation import Known
from affidavit.fact.term import UNSTATED
from affidavit.fact.values import Value
from affidavit.record.ranks import written

NEEDS = ("batch.plan", "batch.rows", "batch.accumulation", "batch.effective", "loader.batches")
WORDS = {"batch.rows": "rows", "batch.accumulation": "micro-batches a step", "batch.effective": "rows a step"}


def is_stated(plan: Value) -> bool:
    return plan != UNSTATED


@check(
    "batch-as-requested",
    needs=NEEDS,
    when=(("batch.plan", is_stated),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the attention",
)
def batch_as_requested(case: Case) -> Outcome:
    """Accumulation that only one of two engines knows, a loader of one's own, a search for what fits in memory.

    The arguments keep saying 8 rows and 2 micro-batches; the learning rate was chosen for them, and the noise of the
    gradient is another. A smaller last step of an epoch is no contradiction. Where the script asked to search for a
    batch that fits, what was found is shown until somebody accepts it.

    Source: hf-stack-spike §4; corpus L3-09 to L3-11. Blind to: rows that are packed, which count as one; a multiple of
    the micro-batches asked for, since a model may be called more than once for each.
    """
    examined = 0
    for ranks, (plan, *counts, batches) in case.by_rank(*NEEDS):
        saw = dict(zip(WORDS, counts))
        asked = {term: request for term in WORDS if (request := case.request(term, rank=ranks[0])) is not None}
        wrong = {term: request for term, request in asked.items() if request.value != saw[term]}
        if _is_excused(asked.get("batch.accumulation"), saw["batch.accumulation"], batches):
            wrong.pop("batch.accumulation", None)
            wrong.pop("batch.effective", None)
        if wrong:
            expected = ", ".join(f"{request.value} {WORDS[term]} ({request.source})" for term, request in wrong.items())
            counted = ", ".join(f"{saw[term]} {WORDS[term]}" for term in dict.fromkeys((*wrong, "batch.effective")))
            how = f"{case.source('batch.rows')}, rank {written(ranks)}"
            means = "The learning rate meets another batch than it was chosen for."
            sites = tuple(Site(key=term, rank=ranks[0]) for term in wrong)
            if plan == "to be found":
                found = f"{counted}, as many as fit ({how})"
                return Review(expected=expected, saw=found, means=means, accept=("batch.effective",), sites=sites)
            return Fail(expected=expected, saw=f"{counted} ({how})", means=means, sites=sites)
        examined += 1
    return Pass(examined)


def _is_excused(asked: Known | None, saw: Value, batches: Value) -> bool:
    """Say whether another count of micro-batches is no contradiction.

    A step may be the last of an epoch that holds less than two whole ones; a model may be called twice a micro-batch.
    """
    if asked is None:
        return False
    wanted = asked.value
    assert isinstance(wanted, int) and isinstance(saw, int) and isinstance(batches, int)
    is_last_window = saw < wanted and 0 < batches < 2 * wanted and saw in (batches, batches - wanted)
    return is_last_window or (saw > wanted and saw % wanted == 0)


@batch_as_requested.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "batch.plan": "stated",
        "batch.rows": 8,
        "batch.accumulation": 2,
        "batch.effective": 32,
        "loader.batches": 100,
    }
    asked: dict[str, Value] = {"batch.rows": 8, "batch.accumulation": 2, "batch.effective": 32}
    return case_of(run=run, asked=asked, ranks=2)


def _asked(case: Case) -> Case:
    """Return the case in which what ran was asked for by name, and epochs are long."""
    for term in WORDS:
        case = case.asked(term, case.value(term))
    return case.altered("loader.batches", lambda batches: batches + 1000)


@batch_as_requested.sabotage("the loader makes other rows on the last rank")
def _(case: Case) -> Case:
    return _asked(case).altered("batch.rows", lambda rows: rows + 1, rank=-1)


@batch_as_requested.sabotage("the optimizer steps at every micro-batch")
def _(case: Case) -> Case:
    return _asked(case).asked("batch.accumulation", 4 * int(str(case.value("batch.accumulation"))))


@batch_as_requested.sabotage("a step takes more rows than it was asked to")
def _(case: Case) -> Case:
    return _asked(case).altered("batch.effective", lambda rows: 2 * rows)


@batch_as_requested.sabotage("what fits in memory is fewer rows", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return _asked(case).altered("batch.plan", "to be found").altered("batch.rows", lambda rows: rows - 1)
