"""Every name that the script handed over was read by somebody."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Cell, Table, Tally, Value
from affidavit.record.ranks import written


def has_names(handed: Value) -> bool:
    return isinstance(handed, Tally) and handed.total > 0


@check(
    "names-consumed",
    needs=("names.handed", "names.swallowed"),
    when=(("names.handed", has_names),),
    landmine=Landmine.NAMES,
    unaffected="the names that were taken; what ran is read from the live objects",
)
def names_consumed(case: Case) -> Outcome:
    """A callable with **kwargs refuses nothing: a mistyped name is kept beside the real one, which has its default.

    Configs, tokenizers, chat templates, generation settings and models take any name; the run completes on defaults,
    and the stray name is even saved with the config. After the call nothing reads it: that is the proof.

    Source: playbook §4.2; hf-stack-spike §1; silent-failure-corpus D4, L2-01.
    Blind to: a wrong name that a loaded library knows for another purpose; a right name whose value is not heeded; a
    name that was given as None.
    """
    examined = 0
    for ranks, (handed, swallowed) in case.by_rank("names.handed", "names.swallowed"):
        assert isinstance(handed, Tally) and isinstance(swallowed, Table)
        rows = swallowed.records(path=str, line=int, callee=str, name=str, near=str, found=str)
        if rows:
            first = f"{rows[0]['name']} in {rows[0]['callee']}"
            return Fail(
                expected=f"{handed.total} names read by whom they were handed to (the script)",
                saw=f"{len(rows)} read by nobody, the first {first} (rank {written(ranks)})",
                means="What it should have set has its default, and nothing said so.",
                action="Correct the name or take it out; what is only to be kept is set on the object afterwards.",
                sites=tuple(_site(row, ranks) for row in rows),
            )
        examined += handed.total
    return Pass(examined)


def _site(row: dict[str, Cell], ranks: tuple[int, ...]) -> Site:
    meant = f"; the nearest name is {row['near']}" if row["near"] else ""
    said = f"{row['callee']} took {row['name']} and nobody reads it: {row['found']}{meant}"
    line = row["line"]
    assert isinstance(line, int)
    return Site(path=str(row["path"]), line=line, key=str(row["name"]), rank=ranks[0], said=said)


@names_consumed.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "names.handed": Tally.count("names", {"AutoTokenizer.from_pretrained": 2, "LlamaConfig": 11}),
        "names.swallowed": Table(("path", "line", "callee", "name", "near", "found"), ()),
    }
    return case_of(run=run, ranks=2)


def _swallow(table: Table) -> Table:
    found = "init_kwargs, which keeps what it does not know"
    return table.with_row("train.py", 12, "AutoTokenizer.from_pretrained", "pading_side", "padding_side", found)


@names_consumed.sabotage("a name was swallowed")
def _(case: Case) -> Case:
    return case.altered("names.swallowed", _swallow)


@names_consumed.sabotage("on the last rank a name was swallowed")
def _(case: Case) -> Case:
    return case.altered("names.swallowed", _swallow, rank=-1)
