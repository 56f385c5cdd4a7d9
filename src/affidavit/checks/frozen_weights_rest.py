"""Every weight that is frozen rests."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Layers, Tally, Value
from affidavit.record.ranks import written

AT_REST = "frozen at rest"
OPTIMIZED = "frozen but moved by the optimizer"
REWRITTEN = "frozen but rewritten"


def has_frozen(moved: Value) -> bool:
    return isinstance(moved, Tally) and any(moved[kind] for kind in (AT_REST, OPTIMIZED, REWRITTEN))


@check(
    "frozen-weights-rest",
    needs=("weights.moved", "weights.exceptions"),
    when=(("weights.moved", has_frozen),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the code",
)
def frozen_weights_rest(case: Case) -> Outcome:
    """A frozen weight moves on where its old gradient is still there: weight decay and momentum ask for no other.

    What the script itself writes into frozen weights (a teacher that follows its student) is shown until somebody
    confirms it; an adapter that is merged and taken out again leaves its rounding behind in the same way.

    Source: playbook §4.3; silent-failure-corpus §4, detector D8. Blind to: buffers (a norm's running statistics).
    """
    examined = 0
    for ranks, (moved, exceptions) in case.by_rank("weights.moved", "weights.exceptions"):
        assert isinstance(moved, Tally) and isinstance(exceptions, Layers)
        if moved[OPTIMIZED] or OPTIMIZED in exceptions.kinds:
            return Fail(
                expected=f"{moved[AT_REST] + moved[OPTIMIZED] + moved[REWRITTEN]} frozen weights at rest",
                saw=f"{moved[OPTIMIZED]} of them moved by the optimizer (rank {written(ranks)})",
                means="The optimizer still trains what was frozen.",
                sites=_sites(exceptions, OPTIMIZED, ranks),
            )
        if moved[REWRITTEN] or REWRITTEN in exceptions.kinds:
            return Review(
                expected=f"{moved[AT_REST] + moved[REWRITTEN]} frozen weights at rest",
                saw=f"{moved[REWRITTEN]} of them rewritten, though not by the optimizer (rank {written(ranks)})",
                means="Weights that were meant to stay are others after the training.",
                accept=("weights.exceptions",),
                sites=_sites(exceptions, REWRITTEN, ranks),
            )
        examined += moved[AT_REST]
    return Pass(examined)


def _sites(exceptions: Layers, kind: str, ranks: tuple[int, ...]) -> tuple[Site, ...]:
    return tuple(Site(key=name, rank=ranks[0]) for name, what in exceptions.runs if what == kind)


@frozen_weights_rest.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "weights.moved": Tally.count("tensors", {"moved": 12, AT_REST: 40}),
        "weights.exceptions": Layers(()),
    }
    return case_of(run=run, ranks=2)


@frozen_weights_rest.sabotage("on the last rank weight decay moves a layer that was frozen late")
def _(case: Case) -> Case:
    return case.altered("weights.moved", lambda moved: moved.plus(OPTIMIZED, 9), rank=-1)


@frozen_weights_rest.sabotage("the teacher follows its student", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("weights.exceptions", Layers.of({"teacher.0.weight": REWRITTEN}))


@frozen_weights_rest.sabotage("an adapter was merged and taken out again", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("weights.moved", lambda moved: moved.plus(REWRITTEN, 8))
