"""Somebody has confirmed whose words the model is trained to say."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.checks.supervised_as_requested import OTHERS, is_selective, stand_for_tokens
from affidavit.fact.values import Tally, Value

NEEDS = ("tokens.supervised_roles", "tokens.supervised_by_role", "tokens.seen_by_role")


@check(
    "supervised-roles-reviewed",
    needs=NEEDS,
    when=(
        ("tokens.labels", stand_for_tokens),
        ("tokens.supervision_requested", lambda asked: not is_selective(asked)),
    ),
    landmine=Landmine.RESULT,
    unaffected="the attention, the adapters, the code",
)
def supervised_roles_reviewed(case: Case) -> Outcome:
    """A library that is told nothing trains on every token, the user's included, by design.

    That is a choice, and it is nobody's until somebody makes it: it is shown with its counts until the lock holds it.

    Source: playbook §4.3; critic-practitioner §4; hf-stack-spike §4. Blind to: rows outside the sampled step.
    """
    examined = 0
    for _, (roles, lit, seen) in case.by_rank(*NEEDS):
        assert isinstance(roles, tuple) and isinstance(lit, Tally) and isinstance(seen, Tally)
        others = [role for role in roles if role in OTHERS]
        if others or not lit.total:
            counts = [f"{lit[role]:,} of {seen[role]:,} {role} tokens" for role in others]
            return Review(
                expected=f"labels on assistant tokens only ({case.source('tokens.supervision_requested')})",
                saw=" and ".join(counts) or f"none on any of {seen.total:,} tokens",
                means="The model learns to say what others say." if others else "The sampled step trained on nothing.",
                action='Run "affidavit tokens" to see them, "affidavit accept" to confirm them.',
                accept=("tokens.supervised_roles",) if others else (),
                sites=tuple(Site(key=role) for role in others),
            )
        examined += seen.total
    return Pass(examined)


@supervised_roles_reviewed.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "tokens.labels": "each token",
        "tokens.supervision_requested": "unstated",
        "tokens.supervised_roles": ("assistant",),
        "tokens.supervised_by_role": Tally.count("tokens", {"assistant": 36, "user": 0}),
        "tokens.seen_by_role": Tally.count("tokens", {"assistant": 36, "user": 40}),
    }
    return case_of(run=run, ranks=2)


@supervised_roles_reviewed.sabotage("the user's words are trained on, and nobody said so", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("tokens.supervised_roles", ("assistant", "user"), rank=-1)


@supervised_roles_reviewed.sabotage("no token carries a label", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered(
        "tokens.supervised_by_role", lambda lit: Tally.count("tokens", dict.fromkeys(dict(lit.counts), 0))
    )
