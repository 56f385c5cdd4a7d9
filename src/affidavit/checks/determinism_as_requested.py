"""The seed and the switches that were asked for are in effect when training begins."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Table, Value
from affidavit.record.ranks import written

NEEDS = ("determinism.seed", "determinism.settings")


@check(
    "determinism-as-requested",
    needs=NEEDS,
    landmine=Landmine.RESULT,
    unaffected="what one run by itself shows; only that a second one repeats it is in doubt",
)
def determinism_as_requested(case: Case) -> Outcome:
    """A seed is set when a trainer is made, and again by whatever comes after it; the arguments keep the first.

    Seeds that only differ in the arguments are then one seed, and an average over them has no spread of its own.

    Source: silent-failure-corpus D5; hf-stack-spike §4. Blind to: random numbers of numpy and of Python; what was drawn
    between the seed and the training.
    """
    examined = 0
    for ranks, (seed, settings) in case.by_rank(*NEEDS):
        assert isinstance(settings, Table)
        for rank in ranks:
            asked, wished = (case.request(term, rank=rank) for term in NEEDS)
            expected, saw = [], []
            # Trainers that sample give each rank a seed of its own: the one asked for, plus the rank.
            if asked is not None and seed not in (asked.value, int(str(asked.value)) + rank):
                expected.append(f"seed {asked.value} ({asked.source})")
                saw.append(f"seed {seed}")
            held = dict(zip(settings.column("setting"), settings.column("value"))) if settings.rows else {}
            for row in wished.value.records() if wished is not None and isinstance(wished.value, Table) else ():
                if held.get(row["setting"], "unknown") != row["value"]:
                    expected.append(f"{row['setting']} {row['value']} ({wished.source if wished else ''})")
                    saw.append(f"{row['setting']} {held.get(row['setting'], 'unknown')}")
            if expected:
                return Fail(
                    expected=", ".join(expected),
                    saw=f"{', '.join(saw)} ({case.source('determinism.seed')}, rank {written((rank,))})",
                    means="A second run with these arguments is not this run.",
                    sites=(Site(key="determinism.seed", rank=rank),),
                )
            examined += 1
    return Pass(examined)


@determinism_as_requested.healthy
def _() -> Case:
    switches = (("deterministic algorithms", "on"), ("threads", "2"))
    run: dict[str, Value] = {"determinism.seed": 7, "determinism.settings": Table(("setting", "value"), switches)}
    asked: dict[str, Value] = {
        "determinism.seed": 7,
        "determinism.settings": Table(("setting", "value"), switches[:1]),
    }
    return case_of(run=run, asked=asked, ranks=2)


@determinism_as_requested.sabotage("another seed was set after the trainer was made")
def _(case: Case) -> Case:
    return case.asked("determinism.seed", case.value("determinism.seed")).altered(
        "determinism.seed", lambda seed: seed + 1000, rank=-1
    )


@determinism_as_requested.sabotage("a switch was turned back")
def _(case: Case) -> Case:
    return _asked(case).altered("determinism.settings", lambda held: held.with_cell(0, "value", "another"))


@determinism_as_requested.sabotage("a switch cannot be found")
def _(case: Case) -> Case:
    return _asked(case).altered("determinism.settings", lambda held: held.with_cell(0, "setting", "another"))


def _asked(case: Case) -> Case:
    return case.asked("determinism.settings", case.value("determinism.settings"))
