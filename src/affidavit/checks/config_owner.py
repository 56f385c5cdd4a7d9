"""Where several places speak of one value, the one whose word a person meant is the one that the run has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Cell, Table, Value
from affidavit.record.ranks import written

COLUMNS = ("value", "owner", "asked", "by", "live", "won", "term")
PERSON = "person"
ACCEPTED_AS = {
    "mixed precision": "precision.matmul_types",
    "gradient accumulation": "batch.effective",
    "rows a micro-batch": "batch.effective",
    "optimizer": "optimizer.kind",
    "learning rate": "optimizer.learning_rate",
    "weight decay": "optimizer.weight_decay",
    "schedule": "schedule.kind",
}
"""By which facts somebody confirms what came of a value; the others have none that a lock holds."""
MEANS = "One of the two configs is read as if it were true, and is not."

Row = dict[str, Cell]


def has_several(owners: Value) -> bool:
    assert isinstance(owners, Table)
    return bool(owners.rows)


@check(
    "config-owner",
    needs=("config.owners",),
    when=(("config.owners", has_several),),
    landmine=Landmine.NAMES,
    unaffected="the data, the masks of the loss, and every value that one place alone speaks of",
)
def config_owner(case: Case) -> Outcome:
    """A script, a launcher's file, the environment and an engine's file each hold a value, and one of them wins.

    Nobody is told which. A default that nobody typed may beat what somebody typed: that is never meant. Two typed
    words that differ may be meant, and are shown until somebody accepts what came of them. What a tool writes by
    itself, and "auto", is no word. A word that is a request elsewhere is judged there: "optimizer-as-requested",
    "schedule-as-requested", "batch-as-requested", "attention-as-requested", "precision-said-in-script".

    Source: corpus L2-02, L2-03, L2-07 to L2-12; hf-stack-spike §4. Blind to: a default that was typed into a file
    which a parser read; a place that no adapter reads.
    """
    examined = 0
    for ranks, (owners,) in case.by_rank("config.owners"):
        assert isinstance(owners, Table)
        reviews: list[tuple[list[Row], list[Row]]] = []
        for rows in _by_value(owners):
            examined += 1
            lost = [row for row in rows if row["by"] == PERSON and not row["won"]]
            won = [row for row in rows if row["won"]]
            is_meant = any(row["by"] == PERSON for row in won)
            if not lost or (any(row["term"] for row in lost) and (is_meant or not won)):
                continue
            if not is_meant:
                return Fail(
                    expected=f"{lost[0]['value']} {_said(lost)}",
                    saw=f"{lost[0]['live']}, {_of(won)} (rank {written(ranks)})",
                    means=MEANS,
                    sites=(Site(key=str(lost[0]["value"]), rank=ranks[0]),),
                )
            reviews.append((lost, won))
        if reviews:
            lost, won = reviews[0]
            value = str(lost[0]["value"])
            accept = [ACCEPTED_AS.get(str(lost[0]["value"]), "") for lost, _ in reviews]
            return Review(
                expected=f"{value} {_said(lost)}",
                saw=f"{lost[0]['live']}, {_of(won)} (rank {written(ranks)}){_more(reviews)}",
                means=MEANS,
                action="Say it in one place, or in both alike.",
                accept=tuple(dict.fromkeys(accept)) if all(accept) else (),
                sites=tuple(Site(key=str(lost[0]["value"]), rank=ranks[0]) for lost, _ in reviews),
            )
    return Pass(examined)


def _by_value(owners: Table) -> Iterable[list[Row]]:
    rows = owners.records()
    for value in dict.fromkeys(row["value"] for row in rows):
        yield [row for row in rows if row["value"] == value]


def _said(rows: Sequence[Row]) -> str:
    return ", ".join(f"{row['asked']} ({row['owner']})" for row in rows)


def _of(won: Sequence[Row]) -> str:
    """Say whose word the live value is, a person's before a default."""
    best = sorted(won, key=lambda row: row["by"] != PERSON)
    if not best:
        return "which is nobody's word"
    by = "" if best[0]["by"] == PERSON else ", which nobody typed"
    return f"the word of {best[0]['owner']}{by}"


def _more(reviews: Sequence[object]) -> str:
    return f", and {len(reviews) - 1} more" if len(reviews) > 1 else ""


@config_owner.healthy
def _() -> Case:
    rows = (
        ("gradient accumulation", "environment: X", "4", "person", "4", True, ""),
        ("gradient accumulation", "Accelerator(gradient_accumulation_steps=…)", "4", "person", "4", True, ""),
        ("mixed precision", "environment: Y", "no", "default", "bf16", False, ""),
        ("mixed precision", "Accelerator(mixed_precision=…)", "bf16", "person", "bf16", True, "precision.requested"),
    )
    run: dict[str, Value] = {"config.owners": Table(COLUMNS, rows)}
    return case_of(run=run, ranks=2)


def _with(case: Case, *rows: tuple[Cell, ...], rank: int | None = None) -> Case:
    """Return the case in which places speak of one value more."""

    def add(owners: Table) -> Table:
        for row in rows:
            owners = owners.with_row(*row)
        return owners

    return case.altered("config.owners", add, rank=rank)


@config_owner.sabotage("a default that nobody typed beats what the launcher's file asks for, on the last rank")
def _(case: Case) -> Case:
    return _with(
        case,
        ("somebody's", "environment: Z", "fp16", "person", "no", False, "precision.outside"),
        ("somebody's", "Accelerator(z=…), default of the option --z", "no", "default", "no", True, ""),
        rank=-1,
    )


@config_owner.sabotage("what is there is nobody's word")
def _(case: Case) -> Case:
    return _with(
        case,
        ("somebody's", "environment: Z", "2", "person", "8", False, ""),
        ("somebody's", "a file", "4", "person", "8", False, ""),
    )


@config_owner.sabotage("two places ask for different values, and one of them is lost", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return _with(
        case,
        ("schedule", "a file", "WarmupLR", "person", "WarmupLR", True, ""),
        ("schedule", "handed over", "cosine", "person", "WarmupLR", False, ""),
    )
