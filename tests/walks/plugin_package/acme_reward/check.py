"""The policy stays near its reference."""

from __future__ import annotations

from acme_reward.terms import TERMS
from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, check
from affidavit.fact.vocabulary import load

NATS = 10.0


@check("acme-reward-near-reference", needs=("acme.reward_kl",), landmine=Landmine.RESULT, unaffected="the reward model")
def acme_reward_near_reference(case: Case) -> Outcome:
    """A policy far from its reference earns reward for text that nobody would read."""
    furthest = max(float(value) for _, value in case.values("acme.reward_kl"))  # type: ignore[arg-type]
    if furthest > NATS:
        return Fail(expected=f"{NATS:g} nats at most", saw=f"{furthest:g}", means="The reward is being hacked.")
    return Pass(examined=len(case.values("acme.reward_kl")))


@acme_reward_near_reference.healthy
def _() -> Case:
    return case_of(run={"acme.reward_kl": 0.4}, vocabulary=load().extended(TERMS, prefix="acme"))


@acme_reward_near_reference.sabotage("the penalty was switched off")
def _(case: Case) -> Case:
    return case.altered("acme.reward_kl", 40.0)
