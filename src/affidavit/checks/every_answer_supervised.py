"""Where assistants are trained on, every answer is."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, check
from affidavit.fact.values import Tally, Value
from affidavit.record.ranks import written

MOST_DARK = 0.01
"""The share of answers without a label beyond which it is no accident of the data."""


def _has_answers(answers: Value) -> bool:
    return isinstance(answers, Tally) and answers.total > 0


@check(
    "every-answer-supervised",
    needs=("tokens.answers",),
    when=(
        ("tokens.answers", _has_answers),
        ("tokens.supervision_requested", lambda asked: asked == "assistant"),
    ),
    landmine=Landmine.RESULT,
    unaffected="the attention, the adapters, the code",
)
def every_answer_supervised(case: Case) -> Outcome:
    """A mask that finds one marker a row trains on one answer of each conversation, and was asked for all.

    The loss falls, and half of the data is a prompt.

    Source: silent-failure-corpus L3b-05, L3b-10, L3b-17. Blind to: rows outside the sampled step; an answer of which
    only a part carries labels.
    """
    examined = 0
    for ranks, answers in case.values("tokens.answers"):
        assert isinstance(answers, Tally)
        if answers["dark"] > MOST_DARK * answers.total:
            return Fail(
                expected=f"labels in every assistant turn ({case.source('tokens.supervision_requested')})",
                saw=f"none in {answers['dark']:,} of {answers.total:,} (entered the model, rank {written(ranks)})",
                means="Answers that were meant to be learnt are read as prompts.",
                action='Run "affidavit tokens" to see them.',
            )
        examined += answers.total
    return Pass(examined)


@every_answer_supervised.healthy
def _() -> Case:
    answers = Tally.count("assistant turns", {"lit": 40, "dark": 0})
    return case_of(run={"tokens.answers": answers, "tokens.supervision_requested": "assistant"}, ranks=2)


@every_answer_supervised.sabotage("on the last rank only the last answer of each row is trained on")
def _(case: Case) -> Case:
    def darken(answers: Tally) -> Tally:
        return answers.moved("lit", "dark", (answers["lit"] + 1) // 2)

    return case.altered("tokens.answers", darken, rank=-1)
