"""Every alarm in the text of the project can say that a training is dead."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Unproven, Verdict, check
from affidavit.fact.values import Table, Value

COLUMNS = ("path", "line", "rule", "text", "known", "said")
PLACES = ("path", "line", "said")
_SHOWN = 3


def _has_any(examined: Value) -> bool:
    return isinstance(examined, int) and examined > 0


@check(
    "alarms-can-say-dead",
    needs=("alarms.inert", "gates.unread"),
    when=(("alarms.examined", _has_any),),
    landmine=Landmine.LIVENESS,
    unaffected="the run itself; only what scripts say of one is judged",
)
def alarms_can_say_dead(case: Case) -> Outcome:
    """A probe that finds its own command line says alive for ever, and a training in a pipe to tee ends with 0.

    Whether pgrep finds itself depends on how its shell was started and not on the text alone, so that is read as well:
    ssh, cron, sh -c, a string of Python, a script that is given the pattern.

    Source: playbook §4.5; anchors-mechanisms C5 (measured by invocation); silent-failure-corpus L5-01, L5-13, D23.
    Blind to: how a script is started by what is no file of the project; watch and "drill --probe" ask the live thing.
    """
    inert, unread = case.value("alarms.inert"), case.value("gates.unread")
    assert isinstance(inert, Table) and isinstance(unread, Table)
    rows = inert.records(path=str, line=int, rule=str, text=str, known=str, said=str)
    proved = [row for row in rows if row["known"] != "likely"]
    chosen = proved or rows
    sites = tuple(
        Site(path=str(row["path"]), line=int(str(row["line"])), key=str(row["rule"]), said=str(row["said"]))
        for row in chosen
    )
    places = list(dict.fromkeys(f"{row['path']}:{row['line']} ({row['rule']})" for row in chosen))
    saw = ", ".join(places[:_SHOWN]) + (f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else "")
    if proved:
        return Fail(
            expected="alarms that can say dead (their text)",
            saw=saw,
            means="A dead run would read as alive, or as finished.",
            action=f'Run "affidavit explain {chosen[0]["rule"]}" for the right form.',
            sites=sites,
        )
    if chosen:
        return Review(
            expected="alarms that can say dead (their text)",
            saw=saw,
            means="A dead run may read as alive, or as finished.",
            accept=(),
            action="Mend it, or say in place why it is meant: # affidavit: RULE REASON.",
            sites=sites,
        )
    if unread.rows:
        return Unproven(f"{unread.records()[0]['path']}: {unread.records()[0]['said']}")
    examined = case.value("alarms.examined")
    assert isinstance(examined, int)
    return Pass(examined)


@alarms_can_say_dead.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "alarms.examined": 7,
        "alarms.inert": Table(COLUMNS, ()),
        "gates.unread": Table(PLACES, ()),
    }
    return case_of(run=run)


@alarms_can_say_dead.sabotage("a probe finds itself")
def _(case: Case) -> Case:
    row = ("watch.sh", 3, "self-matching-probe", "pgrep -f train.py", "proved", "It finds its own command line.")
    return case.altered("alarms.inert", Table(COLUMNS, (row,)))


@alarms_can_say_dead.sabotage("one that may be meant", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    row = ("launch.sh", 9, "training-lost-in-pipe", "python train.py | tee log", "likely", "The code is that of tee.")
    return case.altered("alarms.inert", Table(COLUMNS, (row,)))


@alarms_can_say_dead.sabotage("a script could not be read", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("gates.unread", Table(PLACES, (("launch.sh", 1, "cannot be opened: Permission denied"),)))
