"""The exit code of the command says how its ranks ended."""

from __future__ import annotations

from collections.abc import Mapping

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, Verdict, check
from affidavit.fact.values import Cell, Table, Value

COLUMNS = ("rank", "process", "how", "why", "step")
FAILED = ("raised", "cut off in its loop")


def says_well(ended: Value) -> bool:
    return ended == "exit code 0"


@check(
    "ranks-end-as-command",
    needs=("run.endings", "run.ranks"),
    when=(("run.ended", says_well),),
    landmine=Landmine.LIVENESS,
    unaffected="everything up to the last step of the ranks that are named",
)
def ranks_end_as_command(case: Case) -> Outcome:
    """A launcher returns 0 though a worker failed, a script ends in ``tee``, a crash is caught and printed.

    Whatever waits for the exit code takes the run for finished: the next job starts, a sweep ranks it, a tracker shows
    it green. Each rank has said itself how it ended, or was cut off before it could.

    Source: corpus L5-03, L5-04, L5-07, L5-12. Blind to: what a worker says by its own exit code alone (``sys.exit(3)``
    after its loop); a plain loop that was killed, which looks as one that left by ``os._exit``.
    """
    (_, endings), *_ = case.values("run.endings")
    assert isinstance(endings, Table)
    rows = endings.records(rank=int, how=str, why=str, step=int)
    failed = [row for row in rows if row["how"] in FAILED]
    if failed:
        shown = "; ".join(f"rank {row['rank']} {row['how']}, {row['why']}".rstrip(", ") for row in failed[:3])
        more = f"; and {len(failed) - 3} more ranks" if len(failed) > 3 else ""
        return Fail(
            expected="an exit code that says so",
            saw=f"exit code 0, and {shown}{more} (its journal, at step {failed[0]['step']})",
            means="Whoever asks for the exit code takes a failed run for a finished one.",
            action='Let the launcher pass the exit code on: "set -o pipefail", "wait PID", no bare "except".',
            sites=tuple(map(_site, failed)),
        )
    if rows:
        first = rows[0]
        return Unproven(f"the command ended with exit code 0, and rank {first['rank']}: {first['how']}")
    return Pass(examined=int(str(case.value("run.ranks"))))


def _site(row: Mapping[str, Cell]) -> Site:
    return Site(key=str(row["how"]), rank=int(str(row["rank"])), step=int(str(row["step"])))


@ranks_end_as_command.healthy
def _() -> Case:
    return case_of(run={"run.ended": "exit code 0", "run.endings": Table(COLUMNS, ()), "run.ranks": 2})


@ranks_end_as_command.sabotage("a worker raised, and its launcher returned 0")
def _(case: Case) -> Case:
    return case.altered("run.endings", Table(COLUMNS, ((1, "a-1-1", "raised", "ValueError", 7),)))


@ranks_end_as_command.sabotage("nobody can say whether a worker was killed", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("run.endings", Table(COLUMNS, ((1, "a-1-1", "left without a word", "", 7),)))


@ranks_end_as_command.sabotage("no rank was seen", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("run.ranks", 0)
