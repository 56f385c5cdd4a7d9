"""What a cache served is what its function makes today."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, check
from affidavit.fact.values import Cell, Table, Value

COLUMNS = (
    "cache",
    "function",
    "entry",
    "served",
    "examined",
    "different",
    "bound",
    "outcome",
    "why",
    "fields",
    "first",
    "edited",
)
_CALLS = {
    "datasets.map": "call map with load_from_cache_file=False",
    "datasets.filter": "call filter with load_from_cache_file=False",
    "datasets.load_dataset": 'call load_dataset with download_mode="force_redownload"',
    "joblib.Memory": "clear the memory",
}


def _was_hit(canary: Value) -> bool:
    return isinstance(canary, Table) and bool(canary.rows)


@check(
    "cache-canary",
    needs=("cache.canary",),
    when=(("cache.canary", _was_hit),),
    landmine=Landmine.CACHE,
    unaffected="the attention, the adapters, the code, and rows that came from no cache",
)
def cache_canary(case: Case) -> Outcome:
    """A key that leaves out an input which moves the output serves what another configuration had built.

    The run trains on old rows, and its record describes the new ones: datasets and joblib hash a function and not the
    globals of its module, the files it reads or the environment; load_dataset trusts a file's time.

    Source: silent-failure-corpus L1, D13; hf-stack-spike §5; anchors-mechanisms C1. Blind to: rows that were not
    sampled (the bound says how many could differ); caches that have no adapter; a function whose answer hangs on
    the hash of a text, which is another one in each process, is told as different.
    """
    examined, unproven = 0, ""
    for _, canary in case.values("cache.canary"):
        assert isinstance(canary, Table)
        for row in canary.records():
            if row["outcome"] == "different":
                return _accused(row)
            if row["outcome"] != "same":
                why = f" ({row['why']})" if row["why"] else ""
                unproven = unproven or f"{row['cache']}: {row['function']} was served and is {row['outcome']}{why}"
            examined += int(row["examined"])
    return Unproven(unproven) if unproven else Pass(examined)


def _accused(row: dict[str, bool | int | float | str]) -> Fail:
    fields = "" if row["fields"] in ("", "(row)") else f" in {row['fields']}"
    changed = f" Changed since: {row['edited']}." if row["edited"] else ""
    return Fail(
        expected=f"rows as {row['function']} makes them today",
        saw=(
            f"{int(row['different']):,} of {int(row['examined']):,} rows differ{fields} (first: {row['first']}; "
            f"{row['cache']} served {int(row['served']):,} rows of {row['entry']})"
        ),
        means=f"The run trains on what other code, values or files had built.{changed}",
        action=f"To build it anew, {_CALLS.get(str(row['cache']), 'remove the entry')}.",
        sites=(Site(key=f"{row['cache']}: {row['function']}"),),
    )


@cache_canary.healthy
def _() -> Case:
    row = ("datasets.map", "encode.encode", "cache-1f.arrow", 500_000, 4_096, 0, 7.3e-4, "same", "", "", "", "")
    return case_of(run={"cache.canary": Table(COLUMNS, (row,))}, ranks=2)


@cache_canary.sabotage("a mask in the function's module has changed since")
def _(case: Case) -> Case:
    def stale(canary: Value) -> Value:
        assert isinstance(canary, Table)
        told: dict[str, Cell] = {
            "outcome": "different",
            "different": 21,
            "fields": "labels",
            "first": "17, 203",
            "edited": "encode.py",
        }
        for column, cell in told.items():
            canary = canary.with_cell(0, column, cell)
        return canary

    return case.altered("cache.canary", stale, rank=0)
