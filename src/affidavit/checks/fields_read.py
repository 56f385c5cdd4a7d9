"""Every field that a command line or a config declares is read by somebody, as what it says."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Table, Value

COLUMNS = ("path", "line", "field", "kind", "said")
_SHOWN = 3


def _declares_any(examined: Value) -> bool:
    return isinstance(examined, int) and examined > 0


@check(
    "fields-read",
    needs=("fields.unread", "fields.doubted"),
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
    unread, doubted = case.value("fields.unread"), case.value("fields.doubted")
    assert isinstance(unread, Table) and isinstance(doubted, Table)
    if unread.rows:
        return Fail(
            expected="fields that are read as what they say (the code that declares them)",
            saw=_some(unread),
            means="What is set there changes nothing, or something else than it says.",
            action="Read it, mend it, or take it out.",
            sites=_sites(unread),
        )
    if doubted.rows:
        return Review(
            expected="fields of which the reader is known (parsers and schemas)",
            saw=_some(doubted),
            means="What reads them may lose or change them.",
            accept=(),
            action="Mend it, or waive the place where it is meant.",
            sites=_sites(doubted),
        )
    examined = case.value("fields.examined")
    assert isinstance(examined, int)
    return Pass(examined)


def _some(table: Table) -> str:
    rows = table.records()
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return ", ".join(f"{row['field']} ({row['kind']})" for row in rows[:_SHOWN]) + more


def _sites(table: Table) -> tuple[Site, ...]:
    return tuple(
        Site(path=str(row["path"]), line=int(row["line"]), key=str(row["field"]), said=str(row["said"]))
        for row in table.records()
    )


@fields_read.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "fields.examined": 23,
        "fields.unread": Table(COLUMNS, ()),
        "fields.doubted": Table(COLUMNS, ()),
    }
    return case_of(run=run)


@fields_read.sabotage("an option is parsed and never passed on")
def _(case: Case) -> Case:
    row = ("train.py", 12, "--seq_length", "unread", "parsed and read by no code")
    return case.altered("fields.unread", Table(COLUMNS, (row,)))


@fields_read.sabotage("a config that nobody is known to read keeps a number as text", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    row = ("sft.yaml", 3, "learning_rate", "text", "3e-4 stays text in YAML 1.1")
    return case.altered("fields.doubted", Table(COLUMNS, (row,)))
