"""The key of a cached function moves with every input that moves its output."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, check
from affidavit.fact.values import Table, Value

COLUMNS = ("function", "key", "inputs", "covered", "over_keyed", "irrelevant", "unproven", "faults", "worst", "changed")


def _was_probed(probes: Value) -> bool:
    return isinstance(probes, Table) and bool(probes.rows)


@check(
    "cache-key-probed",
    needs=("cache.probes",),
    when=(("cache.probes", _was_probed),),
    landmine=Landmine.CACHE,
    unaffected="the model, the attention, the code, and rows that came from no cache",
)
def cache_key_probed(case: Case) -> Outcome:
    """A key that leaves out an input which moves the output serves rows of another configuration.

    The probe moves every input, one at a time, and holds the movement of the output against that of the key. Its word
    counts for the code that it was about: a function that has changed since is not proven.

    Source: anchors-mechanisms C1 (four tools of four left the mask out). Blind to: functions that nobody has probed;
    whether the cache was hit in this run; an input that the probe cannot move. A key that moves too often passes: it
    costs time, and no truth.
    """
    examined, unproven = 0, ""
    for _, probes in case.values("cache.probes"):
        assert isinstance(probes, Table)
        for row in probes.records():
            if row["changed"]:
                unproven = unproven or f"{row['function']} was probed before this changed: {row['changed']}"
            elif row["faults"]:
                return _accused(row)
            elif row["unproven"] or not row["inputs"]:
                unproven = unproven or f"nothing moved the output of {row['function']}: {row['worst'] or 'no input'}"
            examined += int(row["inputs"])
    return Unproven(unproven) if unproven else Pass(examined)


def _accused(row: dict[str, bool | int | float | str]) -> Fail:
    is_ours = row["key"] == "ours"
    key = "our own key" if is_ours else f"the key {row['key']}"
    again = f"affidavit cache probe {row['function']}" + ("" if is_ours else f" --key {row['key']}")
    return Fail(
        expected=f"{key} to move with every input that moves what {row['function']} returns",
        saw=f"{int(row['faults']):,} of {int(row['inputs']):,} inputs that do not move it: {row['worst']} (probed)",
        means="After one of these changes, the cache serves the old rows, and nothing says so.",
        action=f'Put them into the key, and run "{again} --rows FILE" again.',
        sites=(Site(key=str(row["function"])),),
    )


@cache_key_probed.healthy
def _() -> Case:
    row = ("encode:encode_row", "encode:cache_key", 8, 7, 1, 0, 0, 0, "", "")
    return case_of(run={"cache.probes": Table(COLUMNS, (row,))}, ranks=2)


@cache_key_probed.sabotage("the mask is not in the key")
def _(case: Case) -> Case:
    def crippled(probes: Value) -> Value:
        assert isinstance(probes, Table)
        told = probes.with_cell(0, "covered", 6).with_cell(0, "faults", 1)
        return told.with_cell(0, "worst", "config impersonation_mask")

    return case.altered("cache.probes", crippled, rank=0)
