"""At any time one process trains as one rank of a run."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Verdict, check
from affidavit.fact.values import Table

COLUMNS = ("rank", "attempt", "process", "other_attempt", "other", "command", "seconds")
CLOCKS_APART_SECONDS = 5.0
"""The clocks of two hosts may differ by so much, and a process that is told to end takes a moment."""


@check(
    "one-writer",
    needs=("run.writers", "run.ranks"),
    landmine=Landmine.LIVENESS,
    unaffected="ranks that one process alone stands for",
)
def one_writer(case: Case) -> Outcome:
    """A job that is requeued while its first start still runs has two trainings that write the same checkpoints.

    Each overwrites what the other has saved, and the loss curve is of both. The same happens where a launcher starts a
    script that never joins its process group: each process is rank 0 and trains alone. Two different commands side by
    side in one attempt, as in a sweep, are no second writer.

    Source: DESIGN D22. Blind to: processes that were at it together for less than 5 s; a process that never trained.
    """
    (_, pairs), *_ = case.values("run.writers")
    assert isinstance(pairs, Table)
    found = [
        pair
        for pair in pairs.records(rank=int, attempt=int, other_attempt=int, seconds=float)
        if pair["seconds"] > CLOCKS_APART_SECONDS  # type: ignore[operator]
        and (pair["attempt"] != pair["other_attempt"] or pair["command"] == "the same")
    ]
    if found:
        first = found[0]
        attempts = dict.fromkeys((first["attempt"], first["other_attempt"]))
        return Fail(
            expected="one process a rank",
            saw=f"{first['process']} and {first['other']}, both rank {first['rank']}, for {first['seconds']:.0f} s "
            f"(attempt {' and '.join(map(str, attempts))})",
            means="Two trainings write into one run: checkpoints, logs and this record are of both.",
            action="End one of them, and find out which of them saved last.",
            sites=tuple(Site(key=str(pair["other"]), rank=int(str(pair["rank"]))) for pair in found),
        )
    return Pass(examined=int(str(case.value("run.ranks"))))


@one_writer.healthy
def _() -> Case:
    return case_of(run={"run.writers": Table(COLUMNS, ()), "run.ranks": 2})


@one_writer.sabotage("a requeued job starts while its first start still runs")
def _(case: Case) -> Case:
    return case.altered("run.writers", Table(COLUMNS, ((0, 0, "a-1-1", 1, "b-2-2", "another", 40.5),)))


@one_writer.sabotage("two processes of one launch are both rank 0")
def _(case: Case) -> Case:
    return case.altered("run.writers", Table(COLUMNS, ((0, 0, "a-1-1", 0, "a-2-2", "the same", 40.5),)))


@one_writer.sabotage("no rank was seen", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("run.ranks", 0)
