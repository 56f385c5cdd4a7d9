"""What is trained on is trained to its end."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written

MOST_DARK = 0.01
"""The share of ends without a label beyond which it is no accident of the data."""


def _judged(ends: Tally) -> int:
    return ends["lit"] + ends["dark"] + ends["never written"]


def _has_ends(ends: Value) -> bool:
    return isinstance(ends, Tally) and _judged(ends) > 0


@check(
    "turns-end-supervised",
    needs=("tokens.terminators",),
    when=(("tokens.terminators", _has_ends),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the adapters, the code",
)
def turns_end_supervised(case: Case) -> Outcome:
    """Padding that is also the end of a text makes a collator mask both, and the model never learns to stop.

    The loss falls as well as ever; what is wrong shows in the first answer that does not end. An end that the template
    forgets to write does the same.

    Source: silent-failure-corpus D2, L3b-01 to L3b-06; hf-stack-spike §4. Blind to: rows outside the sampled step;
    text without any end in it; padding that ends a text, in rows without an attention mask.
    """
    examined = 0
    for ranks, ends in case.values("tokens.terminators"):
        assert isinstance(ends, Tally)
        judged = _judged(ends)
        wrong = [kind for kind in ("dark", "never written") if ends[kind] > MOST_DARK * judged]
        if wrong:
            counts = " and ".join(f"{ends[kind]:,} of {judged:,} ends {kind}" for kind in wrong)
            return Fail(
                expected="a label on the end of all that is trained on (rows as they entered the model)",
                saw=f"{counts} (rank {written(ranks)})",
                means="The model is not taught where to stop.",
                action='Run "affidavit tokens" to see them.',
                sites=tuple(Site(key=kind, rank=ranks[0]) for kind in wrong),
            )
        examined += judged
    return Pass(examined)


@turns_end_supervised.healthy
def _() -> Case:
    ends = Tally.count("ends", {"lit": 200, "dark": 0, "cut off": 3, "never written": 0})
    return case_of(run={"tokens.terminators": ends}, ranks=2)


@turns_end_supervised.sabotage("on the last rank the collator masked every end, with the padding")
def _(case: Case) -> Case:
    return case.altered("tokens.terminators", lambda ends: ends.moved("lit", "dark", ends["lit"]), rank=-1)


@turns_end_supervised.sabotage("one end in twenty carries no label")
def _(case: Case) -> Case:
    return case.altered("tokens.terminators", lambda ends: ends.plus("dark", 1 + ends["lit"] // 19))


@turns_end_supervised.sabotage("the template writes no end behind an answer")
def _(case: Case) -> Case:
    return case.altered("tokens.terminators", lambda ends: ends.moved("lit", "never written", ends["lit"]))
