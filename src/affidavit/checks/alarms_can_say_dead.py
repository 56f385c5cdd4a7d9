"""Every alarm in the text of the project can say that a training is dead."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Landmine, Outcome, Verdict, check
from affidavit.checks.gates_can_say_no import COLUMNS, PLACES, has_any, judge_inert
from affidavit.fact.values import Table, Value


@check(
    "alarms-can-say-dead",
    needs=("alarms.inert", "gates.unread"),
    when=(("alarms.examined", has_any),),
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
    return judge_inert(
        case,
        "alarms",
        expected="alarms that can say dead (their text)",
        proved="A dead run would read as alive, or as finished.",
        likely="A dead run may read as alive, or as finished.",
    )


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
