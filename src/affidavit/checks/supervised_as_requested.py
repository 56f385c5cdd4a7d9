"""The tokens that carry a label are those that the script asked to train on."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Table, Tally, Value


def is_selective(asked: Value) -> bool:
    return asked in ("assistant", "completion")


@check(
    "supervised-as-requested",
    needs=(
        "tokens.supervision_requested",
        "tokens.seen_by_role",
        "tokens.supervised_by_role",
        "tokens.supervised_by_turn",
    ),
    when=(("tokens.supervision_requested", is_selective),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the adapters, the code",
)
def supervised_as_requested(case: Case) -> Outcome:
    """A mask that was asked for can be ignored by a collator, a mistyped column, a template without markers, a cache.

    The loss falls all the same, and the model learns to speak for the user. Counted are labels as they enter the
    model, behind all of these.

    Source: playbook §4.3; silent-failure-corpus D1, D2; hf-stack-spike §4. Blind to: rows outside the sampled step.
    """
    examined = 0
    for ranks, asked in case.values("tokens.supervision_requested"):
        for rank_set, lit in case.values("tokens.supervised_by_role"):
            seen = next(value for among, value in case.values("tokens.seen_by_role") if set(rank_set) & set(among))
            assert isinstance(lit, Tally) and isinstance(seen, Tally)
            examined += seen.total
            wrong = _wrong(str(asked), lit, seen)
            if wrong:
                return Fail(
                    expected=f"{asked} tokens only ({case.source('tokens.supervision_requested')})",
                    saw=f"{wrong} (entered the model, rank {', '.join(map(str, rank_set))})",
                    means="The loss is computed on tokens that nobody asked to train on.",
                    action='Run "affidavit tokens" to see them.',
                    sites=tuple(Site(key=kind, rank=rank) for kind in lit.kinds for rank in ranks),
                )
    return _ends(case, examined)


def _wrong(asked: str, lit: Tally, seen: Tally) -> str:
    """Return what is wrong with the counts, or ""."""
    if not lit.total:
        return f"no label on any of {seen.total:,} tokens"
    others = [kind for kind in lit.kinds if kind not in ("assistant", "text")]
    if asked == "assistant" and others:
        return " and ".join(f"labels on {lit[kind]:,} of {seen[kind]:,} {kind} tokens" for kind in others)
    if asked == "assistant" and seen["assistant"] and not lit["assistant"]:
        return f"labels on 0 of {seen['assistant']:,} assistant tokens"
    if lit.total == seen.total:
        return f"labels on all of {seen.total:,} tokens"
    return ""


def _ends(case: Case, examined: int) -> Outcome:
    """Judge the turns: a turn that is trained without its end teaches a model that never stops."""
    for ranks, turns in case.values("tokens.supervised_by_turn"):
        assert isinstance(turns, Table)
        trained = [row for row in turns.records() if int(row["supervised"])]
        whole = sum(int(row["turns"]) for row in trained)
        ended = sum(int(row["ends"]) for row in trained)
        if trained and any(row["role"] == "assistant" for row in trained) and not ended:
            return Fail(
                expected="a label on the end of a turn (the template closes each turn)",
                saw=f"0 of {whole:,} trained turns with a label on their end (rank {', '.join(map(str, ranks))})",
                means="The model is never taught to stop.",
                action='Run "affidavit tokens" to see them.',
                sites=tuple(Site(key=f"turn {row['turn']}", rank=ranks[0]) for row in trained[:8]),
            )
        examined += whole
    return Pass(examined)


@supervised_as_requested.healthy
def _() -> Case:
    turns = Table(
        ("turn", "role", "turns", "tokens", "supervised", "ends"),
        ((0, "user", 4, 40, 0, 0), (1, "assistant", 4, 36, 36, 4)),
    )
    run: dict[str, Value] = {
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
