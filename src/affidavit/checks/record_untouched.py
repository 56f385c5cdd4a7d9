"""The record of everything that a run builds on is still the one that was sealed."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, Verdict, check
from affidavit.fact.values import Table, Value

COLUMNS = ("as", "run", "standing", "said")
GONE = "not here"
_SHOWN = 3


def _builds_on_any(built: Value) -> bool:
    return isinstance(built, Table) and any(row["standing"] != GONE for row in built.records(standing=str))


@check(
    "record-untouched",
    needs=("record.built_on",),
    when=(("record.built_on", _builds_on_any),),
    landmine=Landmine.TREE,
    unaffected="what this run itself did: its own record is sealed apart",
)
def record_untouched(case: Case) -> Outcome:
    """A number is as good as the record that it is read from, and whoever may write a folder may edit what lies there.

    The resumed checkpoint's run, the run that built the encoding, the rehearsal and the earlier attempts are verified:
    each byte against its seal, the corrections against one another, signature and witness where the project has them.

    Source: playbook §4.7; anchors-provenance §11.3. Blind to: an unsigned record that was rewritten whole, and a run
    whose folder is gone.
    """
    built = case.value("record.built_on")
    assert isinstance(built, Table)
    rows = {"as": str, "run": str, "standing": str, "said": str}
    found = [row for row in built.records(**rows) if row["standing"] != GONE]
    broken = [row for row in found if row["standing"] == "contradicts"]
    if broken:
        first = broken[0]
        more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        return Fail(
            expected=f"the record of {first['as']} {first['run']} as it was sealed",
            saw=f"{first['said']}{more}",
            means="What this run builds on is not what was sworn to: its numbers may have been changed since.",
            action=f'Run "affidavit verify {first["run"]}", and restore its folder from a copy.',
            sites=tuple(Site(key=str(row["run"]), said=str(row["said"])) for row in broken),
        )
    open_ = [f"{row['as']} {row['run']}: {row['said']}" for row in found if row["standing"] != "holds"]
    if open_:
        more = f"; and {len(open_) - _SHOWN} more" if len(open_) > _SHOWN else ""
        return Unproven(f"{'; '.join(open_[:_SHOWN])}{more}")
    return Pass(len(found))


@record_untouched.healthy
def _() -> Case:
    rows = (
        ("checkpoint", "20260101T120000Z-1f2e3d", "holds", ""),
        ("encoding", "20251231T120000Z-4a5b6c", "holds", ""),
        ("checkpoint", "20251001T120000Z-0d0e0f", GONE, "its folder is gone, or it ran elsewhere"),
    )
    return case_of(run={"record.built_on": Table(COLUMNS, rows)})


@record_untouched.sabotage("somebody edited the record of the run that wrote the checkpoint")
def _(case: Case) -> Case:
    said = "manifest: expected manifest.json with sha256:1f… (head.json), saw sha256:9d…"
    return case.altered("record.built_on", lambda built: _with(built, standing="contradicts", said=said))


@record_untouched.sabotage("a signature that is expected is missing", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    said = "signature: unsigned: no manifest.dsse.json, and signatures are expected here"
    return case.altered("record.built_on", lambda built: _with(built, standing="not checked", said=said))


def _with(built: Value, **cells: str) -> Table:
    assert isinstance(built, Table)
    for column, cell in cells.items():
        built = built.with_cell(0, column, cell)
    return built
