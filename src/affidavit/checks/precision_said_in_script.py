"""A precision that comes from outside of the script is one that the script says as well."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Landmine, Outcome, Pass, Review, Verdict, check
from affidavit.checks.precision_as_requested import COMPUTES, is_stated
from affidavit.fact.term import UNSTATED
from affidavit.fact.values import Tally, Value

NEEDS = ("precision.outside", "precision.requested", "precision.matmul_types", "precision.matmuls")


@check(
    "precision-said-in-script",
    needs=NEEDS,
    when=(("precision.outside", is_stated),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the adapters",
)
def precision_said_in_script(case: Case) -> Outcome:
    """A variable of the environment or a launcher's file sets the precision of a script that says nothing of it.

    The same commit then trains in another precision on another machine. Where the script names another one, either
    word is lost without a message: a default of its parser is enough.

    Source: playbook §4.3; hf-stack-spike §4 (an environment that switches autocast on); corpus L2-02, L2-03.
    Blind to: a launcher's file that says "no", since that is also what a launcher says if nobody told it anything.
    """
    examined = 0
    for _, (outside, asked, types, ran) in case.by_rank(*NEEDS):
        assert isinstance(types, tuple) and isinstance(ran, Tally)
        if COMPUTES.get(str(outside), outside) != COMPUTES.get(str(asked), asked):
            script = "nothing" if asked == UNSTATED else f"{asked} ({case.source('precision.requested')})"
            return Review(
                expected=f"{outside} ({case.source('precision.outside')}) to be what the script names",
                saw=f"{script} named there, and products in {', '.join(types)}: {ran} (executed)",
                means="The commit does not say in which precision this run computed.",
                action='Name it in the script, or run "affidavit accept" to confirm what ran.',
                accept=("precision.matmul_types",),
            )
        examined += ran.total
    return Pass(examined)


@precision_said_in_script.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "precision.outside": "bf16",
        "precision.requested": "bf16",
        "precision.matmuls": Tally.count("operations", {"bfloat16": 90}),
        "precision.matmul_types": ("bfloat16",),
    }
    return case_of(run=run, ranks=2)


@precision_said_in_script.sabotage("the environment says another precision on the last rank", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("precision.outside", "fp16", rank=-1)


@precision_said_in_script.sabotage("the script says nothing of it", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("precision.requested", UNSTATED)


@precision_said_in_script.sabotage("the script refuses it, and all ran in float32", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    refused = case.altered("precision.requested", "no").altered("precision.matmul_types", ("float32",))
    return refused.altered("precision.matmuls", lambda ran: Tally.count("operations", {"float32": ran.total}))
