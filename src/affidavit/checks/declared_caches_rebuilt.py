"""What a cache of the project's own holds is what its build makes of the raw rows today."""

from __future__ import annotations

from fnmatch import fnmatchcase

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, check
from affidavit.fact.values import Cell, Table, Value

COLUMNS = (
    *("cache", "function", "entry", "served", "examined", "different", "bound", "outcome", "why", "fields", "first"),
    *("edited", "pattern", "manifest"),
)
_HEARD = (".jsonl", ".ndjson", ".json", ".csv", ".npy", ".npz", ".pt")
"""Files that nobody reads natively: one that was not heard of was not read."""
Row = dict[str, Cell]


def _is_there(declared: Value) -> bool:
    return isinstance(declared, Table) and bool(declared.rows)


@check(
    "declared-caches-rebuilt",
    needs=("cache.declared",),
    when=(("cache.declared", _is_there),),
    landmine=Landmine.CACHE,
    unaffected="the attention, the adapters, the code, and data that comes from no declared cache",
)
def declared_caches_rebuilt(case: Case) -> Outcome:
    """A cache of one's own serves what its key names, and a key that leaves out an input serves another day's rows.

    affidavit.toml says how its rows come about: of this raw row, through that function. Sampled rows are rebuilt before
    the command starts. An entry that this run was seen not to open, because it opened or built another one of the same
    cache, is not held against it.

    Source: playbook §4.1; silent-failure-corpus L1, D13. Blind to: rows that were not sampled; caches that nobody
    declared.
    """
    examined, unproven = 0, ""
    opened = _opened(case)
    for _, declared in case.values("cache.declared"):
        assert isinstance(declared, Table)
        for row in declared.records():
            bears = _bears(row, opened)
            if row["outcome"] == "different" and bears == "yes":
                return _accused(row)
            if row["outcome"] == "different" and bears == "unseen":
                unproven = unproven or f"{row['entry']} differs, and whether this run read it was not seen"
            elif row["outcome"] not in ("same", "different") and bears != "no":
                why = f" ({row['why']})" if row["why"] else ""
                unproven = unproven or f"{row['cache']}: {row['entry']} is {row['outcome']}{why}"
            examined += max(int(row["examined"]), 1)
    return Unproven(unproven) if unproven else Pass(examined)


def _opened(case: Case) -> tuple[str, ...] | None:
    """Return the files of data that this run was seen to open, or None where nobody looked or no run is judged."""
    tables = [value for _, value in case.values("cache.opened") if isinstance(value, Table)]
    if not tables:
        return None
    return tuple(str(row["path"]) for table in tables for row in table.records())


def _bears(row: Row, opened: tuple[str, ...] | None) -> str:
    """Say whether a run trains on an entry: ``yes``, ``no``, or ``unseen`` where it may have been read natively."""
    if opened is None:
        return "yes"
    entry, pattern = f"/{row['entry']}", f"*/{row['pattern']}"
    places = [place for path in opened for place in (path, path.rpartition("/")[0])]  # an entry may be a folder
    if any(place.endswith(entry) for place in places):
        return "yes"
    has_another = any(fnmatchcase(place, pattern) for place in places)
    return "no" if has_another or entry.endswith(_HEARD) else "unseen"


def _accused(row: Row) -> Fail:
    fields = "" if row["fields"] in ("", "(row)") else f" in {row['fields']}"
    changed = f" Changed since: {row['edited']}." if row["edited"] else ""
    why = f"; {row['why']}" if row["why"] else ""
    return Fail(
        expected=f"rows of {row['entry']} as {row['function']} makes them today ({row['cache']} in affidavit.toml)",
        saw=(
            f"{int(row['different']):,} of {int(row['examined']):,} rows that differ{fields} "
            f"(first: row {row['first']} of {int(row['served']):,}{why})"
        ),
        means=f"Whoever reads it trains on what other code, values or files had built.{changed}",
        action="Remove the entry, and take what was left out into its key.",
        sites=(Site(path=str(row["entry"]), key=str(row["cache"])),),
    )


@declared_caches_rebuilt.healthy
def _() -> Case:
    row = ("chats", "encode.row", "cache/1f.jsonl", 500, 256, 0, 0.0116, "same", "", "", "", "", "cache/*.jsonl", "")
    return case_of(run={"cache.declared": Table(COLUMNS, (row,))})


@declared_caches_rebuilt.sabotage("a mask in the function's module has changed since")
def _(case: Case) -> Case:
    def stale(declared: Value) -> Value:
        assert isinstance(declared, Table)
        told: dict[str, Cell] = {"outcome": "different", "different": 21, "fields": "labels", "first": "17, 203"}
        for column, cell in told.items():
            declared = declared.with_cell(0, column, cell)
        return declared

    return case.altered("cache.declared", stale)
