"""The tokens that carry a label are those that the script asked to train on."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Table, Tally, Value
from affidavit.record.ranks import written

NEEDS = (
    "tokens.supervision_requested",
    "tokens.seen_by_role",
    "tokens.supervised_by_role",
    "tokens.supervised_by_turn",
)


OTHERS = ("system", "user")
"""Whose words an assistant must not learn. A template writes words of its own into an answer (a new line behind its
end, an empty thought in front of it), and marks them for the loss with the rest of it."""


def stand_for_tokens(labels: Value) -> bool:
    return labels == "each token"


def is_selective(asked: Value) -> bool:
    return asked in ("assistant", "completion")


@check(
    "supervised-as-requested",
    needs=NEEDS,
    when=(("tokens.labels", stand_for_tokens), ("tokens.supervision_requested", is_selective)),
    landmine=Landmine.RESULT,
    unaffected="the attention, the adapters, the code",
)
def supervised_as_requested(case: Case) -> Outcome:
    """A mask that was asked for can be ignored by a collator, a mistyped column, a template without markers, a cache.

    The loss falls all the same, and the model learns to speak for the user. Counted are labels as they enter the
    model, behind all of these.

    Source: playbook §4.3; silent-failure-corpus D1, D2; hf-stack-spike §4. Blind to: rows outside the sampled step;
    answers of tools, and the rest of a turn whose beginning was cut off, which count as words of the template.
    """
    examined = 0
    for ranks, (asked, seen, lit, turns) in case.by_rank(*NEEDS):
        assert isinstance(lit, Tally) and isinstance(seen, Tally) and isinstance(turns, Table)
        if not is_selective(asked):
            continue  # whether ranks ask for the same is for "ranks-agree"
        wrong = _wrong(str(asked), lit, seen) or _unended(turns)
        if wrong:
            return Fail(
                expected=f"{asked} tokens only, each turn with its end ({case.source('tokens.supervision_requested')})",
                saw=f"{wrong} (entered the model, rank {written(ranks)})",
                means="The loss is computed on other tokens than somebody asked to train on.",
                action='Run "affidavit tokens" to see them.',
                sites=tuple(Site(key=kind, rank=ranks[0]) for kind in lit.kinds if kind in OTHERS),
            )
        examined += seen.total
    return Pass(examined)


def _wrong(asked: str, lit: Tally, seen: Tally) -> str:
    """Return what is wrong with the counts, or ""."""
    if not lit.total:
        return f"no label on any of {seen.total:,} tokens"
    others = [kind for kind in lit.kinds if kind in OTHERS]
    if asked == "assistant" and others:
        return " and ".join(f"labels on {lit[kind]:,} of {seen[kind]:,} {kind} tokens" for kind in others)
    if asked == "assistant" and seen["assistant"] and not lit["assistant"]:
        return f"labels on 0 of {seen['assistant']:,} assistant tokens"
    if lit.total == seen.total:
        return f"labels on all of {seen.total:,} tokens"
    return ""


def _unended(turns: Table) -> str:
    """Return what is wrong with the ends of turns, or "": a turn trained without its end never learns to stop."""
    trained = [row for row in turns.records() if row["role"] == "assistant" and int(row["supervised"])]
    closed = sum(int(row["closed"]) for row in trained)  # a turn that was cut off has no end to label
    if closed and not sum(int(row["ends"]) for row in trained):
        return f"a label on the end of 0 of {closed:,} trained turns"
    return ""


@supervised_as_requested.healthy
def _() -> Case:
    turns = Table(
        ("turn", "role", "turns", "tokens", "supervised", "closed", "ends"),
        ((0, "user", 4, 40, 0, 4, 0), (1, "assistant", 4, 36, 36, 4, 4)),
    )
    run: dict[str, Value] = {
        "tokens.labels": "each token",
        "tokens.supervision_requested": "assistant",
        "tokens.seen_by_role": Tally.count("tokens", {"user": 40, "assistant": 36, "template": 20}),
        "tokens.supervised_by_role": Tally.count("tokens", {"user": 0, "assistant": 36, "template": 0}),
        "tokens.supervised_by_turn": turns,
    }
    return case_of(run=run, ranks=2)


@supervised_as_requested.sabotage("on the last rank a label sits on a word of the user")
def _(case: Case) -> Case:
    return case.altered("tokens.supervised_by_role", lambda lit: lit.moved(lit.kinds[0], "user", 1), rank=-1)


@supervised_as_requested.sabotage("no token carries a label")
def _(case: Case) -> Case:
    return case.altered(
        "tokens.supervised_by_role", lambda lit: Tally.count("tokens", dict.fromkeys(dict(lit.counts), 0))
    )


@supervised_as_requested.sabotage("every token that was seen carries a label")
def _(case: Case) -> Case:
    lit = case.value("tokens.supervised_by_role")
    return case.altered("tokens.seen_by_role", lit)


@supervised_as_requested.sabotage("no end of a turn carries a label")
def _(case: Case) -> Case:
    def blunt(turns: Table) -> Table:
        for row in range(len(turns.rows)):
            turns = turns.with_cell(row, "ends", 0)
        return turns

    return case.altered("tokens.supervised_by_turn", blunt)
