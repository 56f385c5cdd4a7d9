"""The guards and gates that a project relies on were seen to say no, on the code that is here."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, Verdict, check
from affidavit.fact.values import Cell, Table, Value

COLUMNS = ("kind", "name", "word", "date", "why")
_GOOD = ("PROVED", "WEAK")
_UNABLE = ("INERT", "NOT-REACHED")
_DRILL = '"affidavit drill"'
_AGAIN = {
    "gate": '"affidavit drill --gates"',
    "guard": '"pytest --affidavit-report"',
    "watch": '"affidavit drill --watch"',
}


def _relies_on_any(proofs: Value) -> bool:
    return isinstance(proofs, Table) and bool(proofs.rows)


@check(
    "instruments-proved",
    needs=("instruments.proofs",),
    when=(("instruments.proofs", _relies_on_any),),
    landmine=Landmine.GATES,
    unaffected="whatever no guard and no gate was trusted with",
)
def instruments_proved(case: Case) -> Outcome:
    """A test or a gate that nobody has seen fail may be unable to, and it is trusted because it is always green.

    Each is held to the ledger: it said no when it had to, not too long ago, on the code that is here. INERT said yes
    to a fault, NOT-REACHED never touched the function that it guards. A WEAK guard says no, and not to everything.

    Source: playbook §4.6; silent-failure-corpus L6, D24. Blind to: faults that nobody thought of planting.
    """
    proofs = case.value("instruments.proofs")
    assert isinstance(proofs, Table)
    rows = proofs.records(kind=str, name=str, word=str, date=str, why=str)
    unable = [row for row in rows if row["word"] in _UNABLE]
    if unable:
        first = unable[0]
        return Fail(
            expected=f"a {first['kind']} that says no to a planted fault",
            saw=f"{first['name']}: {first['word']}" + (f", {first['why']}" if first["why"] else ""),
            means="It is green whatever happens, so it vouches for nothing.",
            action=f"Mend it, and run {_AGAIN.get(str(first['kind']), _DRILL)}.",
            sites=tuple(map(_site, unable)),
        )
    doubted = [row for row in rows if row["word"] not in _GOOD]
    if doubted:
        return Unproven("; ".join(dict.fromkeys(_doubt(row) for row in doubted[:3])) + _more(len(doubted) - 3))
    return Pass(len(rows))


def _doubt(row: dict[str, Cell]) -> str:
    return f"{row['kind']} {row['name']} is unproved ({row['why']}): run {_AGAIN.get(str(row['kind']), _DRILL)}"


def _more(count: int) -> str:
    return f"; and {count} more" if count > 0 else ""


def _site(row: dict[str, Cell]) -> Site:
    return Site(key=str(row["name"]), said=f"{row['kind']}, {row['word']}")


@instruments_proved.healthy
def _() -> Case:
    rows = (
        ("guard", "tests/test_masks.py::test_users_stay_dark guards chat.masks:mask", "PROVED", "2025-12-20", ""),
        ("gate", "labels", "PROVED", "2025-12-30", "exit code 1"),
    )
    return case_of(run={"instruments.proofs": Table(COLUMNS, rows)})


@instruments_proved.sabotage("a gate says yes with the fault planted")
def _(case: Case) -> Case:
    return case.altered("instruments.proofs", lambda proofs: _as(proofs, "INERT", "it says yes with the fault planted"))


@instruments_proved.sabotage("a gate was last seen to say no on other code", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("instruments.proofs", lambda proofs: _as(proofs, "UNPROVED", "changed since: labels.py"))


def _as(proofs: Value, word: str, why: str) -> Table:
    assert isinstance(proofs, Table)
    return proofs.with_cell(1, "word", word).with_cell(1, "why", why)
