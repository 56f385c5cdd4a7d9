"""Somebody has confirmed whose words the model is trained to say."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.checks.supervised_as_requested import is_selective
from affidavit.fact.values import Tally, Value

EXPECTED = {"assistant", "text"}
"""Roles that nobody needs to confirm: the assistant's words, and text that has no turns."""


@check(
    "supervised-roles-reviewed",
    needs=("tokens.supervised_roles", "tokens.supervised_by_role", "tokens.seen_by_role"),
    when=(("tokens.supervision_requested", lambda asked: not is_selective(asked)),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the adapters, the code",
)
def supervised_roles_reviewed(case: Case) -> Outcome:
    """A library that is told nothing trains on every token, the user's included, by design.

    That is a choice, and it is nobody's until somebody makes it: it is shown with its counts until the lock holds it.

    Source: playbook §4.3; critic-practitioner §4; hf-stack-spike §4. Blind to: rows outside the sampled step.
    """
    examined = 0
    for _, roles in case.values("tokens.supervised_roles"):
        assert isinstance(roles, tuple)
        others = [role for role in roles if role not in EXPECTED]
        lit, seen = case.value("tokens.supervised_by_role"), case.value("tokens.seen_by_role")
        assert isinstance(lit, Tally) and isinstance(seen, Tally)
        examined += seen.total
        if others:
            return Review(
                expected=f"labels on assistant tokens only ({case.source('tokens.supervision_requested')})",
                saw=" and ".join(f"{lit[role]:,} of {seen[role]:,} {role} tokens" for role in others),
                means="The model learns to say what users say.",
                action='Run "affidavit tokens" to see them, "affidavit accept" to confirm them.',
                accept=("tokens.supervised_roles",),
                sites=tuple(Site(key=role) for role in others),
            )
        if not lit.total:
            return Review(
                expected="a label on some token",
                saw=f"none on any of {seen.total:,} tokens",
                means="The sampled step trained on nothing.",
                accept=(),
            )
    return Pass(examined)


@supervised_roles_reviewed.healthy
def _() -> Case:
    run: dict[str, Value] = {
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
