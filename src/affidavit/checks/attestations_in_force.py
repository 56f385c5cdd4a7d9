"""What only a person can know was answered yes, lately enough, of the files that are here."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, Verdict, check
from affidavit.fact.values import Table, Value

COLUMNS = ("question", "answer", "words", "author", "date", "until", "why")


def _asks_any(answers: Value) -> bool:
    return isinstance(answers, Table) and bool(answers.rows)


@check(
    "attestations-in-force",
    needs=("attestations.answers",),
    when=(("attestations.answers", _asks_any),),
    landmine=Landmine.GATES,
    unaffected="everything that an instrument can see",
)
def attestations_in_force(case: Case) -> Outcome:
    """Some questions no instrument can answer, and a question that is never asked is a gate that always says yes.

    Each [[attest]] of affidavit.toml is answered by a person, for a time, of certain bytes. When the time is over or
    the bytes have changed, nobody has answered; no is a no.

    Source: playbook §4.8. Blind to: whether whoever answered had looked.
    """
    answers = case.value("attestations.answers")
    assert isinstance(answers, Table)
    rows = answers.records(question=str, answer=str, words=str, author=str, date=str, until=str, why=str)
    refused = [row for row in rows if row["answer"] == "no" and not row["why"]]
    if refused:
        first = refused[0]
        said = f": {first['words']}" if first["words"] else ""
        return Fail(
            expected=f'"yes" to "{first["question"]}" (affidavit.toml)',
            saw=f'"no"{said} ({first["author"]}, {first["date"]})',
            means="A person who looked says that it does not hold.",
            action='Mend it; what was looked at is then asked about again ("affidavit attest").',
            sites=tuple(Site(key=str(row["question"]), said=str(row["words"])) for row in refused),
        )
    open_ = [f'"{row["question"]}": {row["why"]}' for row in rows if row["why"]]
    if open_:
        more = f"; and {len(open_) - 3} more" if len(open_) > 3 else ""
        return Unproven(f'{"; ".join(open_[:3])}{more}: run "affidavit attest"')
    return Pass(len(rows))


@attestations_in_force.healthy
def _() -> Case:
    row = ("Do the chats read like chats?", "yes", "read 40 of them", "maintainer", "2025-12-01", "2026-03-01", "")
    return case_of(run={"attestations.answers": Table(COLUMNS, (row,))})


@attestations_in_force.sabotage("a person says no")
def _(case: Case) -> Case:
    return case.altered(
        "attestations.answers", lambda answers: _with(answers, answer="no", words="every fifth is spam")
    )


@attestations_in_force.sabotage("the files have changed since they were looked at", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("attestations.answers", lambda answers: _with(answers, why="changed since: data/chats.jsonl"))


def _with(answers: Value, **cells: str) -> Table:
    assert isinstance(answers, Table)
    for column, cell in cells.items():
        answers = answers.with_cell(0, column, cell)
    return answers
