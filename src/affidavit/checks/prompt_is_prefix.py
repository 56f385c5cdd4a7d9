"""Rows continue the prompt that inference will write."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Value

DECIDED = ("prefix", "differs")


def _is_decided(prompt: Value) -> bool:
    return prompt in DECIDED


@check(
    "prompt-is-prefix",
    needs=("tokens.prompt",),
    when=(("tokens.prompt", _is_decided),),
    landmine=Landmine.RESULT,
    unaffected="the labels, the attention, the adapters, the code",
)
def prompt_is_prefix(case: Case) -> Outcome:
    """A template may ask for an answer otherwise than it writes one, and rows may be written by another hand.

    The model then trains on contexts that it never meets: a thought that only inference opens, a blank too many.

    Source: silent-failure-corpus D3, L3b-21. Blind to: what stands in front of the first message; prompts that an
    inference engine writes without the template.
    """
    values = case.values("tokens.prompt")
    if any(prompt == "differs" for _, prompt in values):
        return Review(
            expected="answers behind the prompt that the chat template writes",
            saw=f"rows that go on otherwise ({case.source('tokens.prompt')})",
            means="The model is trained on a context that it does not see at inference.",
            action='Train with the template that inference uses, or "affidavit accept" the difference.',
            accept=("tokens.prompt",),
            sites=(Site(key="tokens.prompt"),),
        )
    return Pass(len(values))


@prompt_is_prefix.healthy
def _() -> Case:
    return case_of(run={"tokens.prompt": "prefix"}, ranks=2)


@prompt_is_prefix.sabotage("the template asks with a thought that no row has", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("tokens.prompt", "differs", rank=-1)
