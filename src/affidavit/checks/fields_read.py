"""Every field that a command line or a config declares is read by somebody, as what it says."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Table, Value

COLUMNS = ("path", "line", "field", "kind", "said")
_SHOWN = 3


def _declares_any(examined: Value) -> bool:
    return isinstance(examined, int) and examined > 0


@check(
    "fields-read",
    needs=("fields.unread",),
    when=(("fields.examined", _declares_any),),
    landmine=Landmine.NAMES,
    unaffected="options and keys that are read, and every other check",
)
def fields_read(case: Case) -> Outcome:
    """A setting that nobody reads is one that somebody believes in.

    An option that is parsed and never used, ``type=bool`` that is true whatever is typed, a key that its parser drops,
    stands twice or stays text, an attribute that is set once the object is made: each is accepted without a word.

    Source: playbook §4.2; silent-failure-corpus L2-05, L2-17, L2-18; hf-stack-spike §1 (what parsers accept).
    Blind to: options that are handed on whole, which count as read; whether what is read is heeded.
    """
    table = case.value("fields.unread")
    assert isinstance(table, Table)
    if table.rows:
        rows = table.records()
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        return Fail(
            expected="fields that are read as what they say (the code that declares them)",
            saw=", ".join(f"{row['field']} ({row['kind']})" for row in rows[:_SHOWN]) + more,
            means="What is set there changes nothing, or something else than it says.",
            action="Read it, mend it, or take it out.",
            sites=tuple(
                Site(path=str(row["path"]), line=int(row["line"]), key=str(row["field"]), said=str(row["said"]))
                for row in rows
            ),
        )
    examined = case.value("fields.examined")
    assert isinstance(examined, int)
    return Pass(examined)


@fields_read.healthy
def _() -> Case:
    run: dict[str, Value] = {"fields.examined": 23, "fields.unread": Table(COLUMNS, ())}
    return case_of(run=run)


@fields_read.sabotage("an option is parsed and never passed on")
def _(case: Case) -> Case:
    row = ("train.py", 12, "--seq_length", "unread", "parsed and read by no code")
    return case.altered("fields.unread", Table(COLUMNS, (row,)))
