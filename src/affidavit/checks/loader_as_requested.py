"""The loader reads in the order, with the workers and to the end that were asked for."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.observation import Known
from affidavit.fact.values import Value
from affidavit.record.ranks import written

NEEDS = ("loader.sampler", "loader.drop_last", "loader.workers")
WORDS = {"loader.sampler": "sampler", "loader.drop_last": "drop_last", "loader.workers": "workers"}


def is_seen(sampler: Value) -> bool:
    return sampler != "unseen"


@check(
    "loader-as-requested",
    needs=NEEDS,
    when=(("loader.sampler", is_seen),),
    landmine=Landmine.RESULT,
    unaffected="the model, the optimizer, the masks of the loss",
)
def loader_as_requested(case: Case) -> Outcome:
    """A sampler that was asked for is not used where the data streams, or where a trainer makes its own loader.

    Rows then come in an order that nobody chose: sorted data stays sorted, and lengths are mixed after all.

    Source: hf-stack-spike §4 (``group_by_length`` is ignored for a stream). Blind to: what a sampler does inside.
    """
    examined = 0
    for ranks, values in case.by_rank(*NEEDS):
        saw = dict(zip(NEEDS, values))
        asked = {term: request for term in NEEDS if (request := case.request(term, rank=ranks[0])) is not None}
        wrong = {term: request for term, request in asked.items() if not _is_kept(request, saw[term])}
        if wrong:
            return Fail(
                expected=", ".join(
                    f"{WORDS[term]} {request.value} ({request.source})" for term, request in wrong.items()
                ),
                saw=", ".join(f"{WORDS[term]} {saw[term]}" for term in wrong)
                + f" ({case.source('loader.sampler')}, rank {written(ranks)})",
                means="The rows come otherwise than the arguments say.",
                sites=tuple(Site(key=term, rank=ranks[0]) for term in wrong),
            )
        examined += len(NEEDS)
    return Pass(examined)


def _is_kept(request: Known, saw: Value) -> bool:
    """Say whether a value is the one asked for; a seedable or distributed sampler is still that sampler."""
    return request.value == saw or (isinstance(saw, str) and saw.endswith(str(request.value)))


@loader_as_requested.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "loader.sampler": "SeedableRandomSampler",
        "loader.drop_last": True,
        "loader.workers": 2,
    }
    asked: dict[str, Value] = {"loader.sampler": "RandomSampler", "loader.drop_last": True, "loader.workers": 2}
    return case_of(run=run, asked=asked, ranks=2)


@loader_as_requested.sabotage("the data streams, whatever order was asked for")
def _(case: Case) -> Case:
    return case.asked("loader.sampler", case.value("loader.sampler")).altered("loader.sampler", "none")


@loader_as_requested.sabotage("the last batch is dropped, or kept, against the request")
def _(case: Case) -> Case:
    return case.asked("loader.drop_last", case.value("loader.drop_last")).falsified("loader.drop_last")


@loader_as_requested.sabotage("the last rank reads with other workers")
def _(case: Case) -> Case:
    return case.asked("loader.workers", case.value("loader.workers")).falsified("loader.workers", rank=-1)
