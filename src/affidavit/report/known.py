"""What a case knows, read for a sentence: by the lowest rank, by all of them, added up over them."""

from __future__ import annotations

from affidavit.case import Case
from affidavit.fact.observation import Known
from affidavit.fact.values import Table, Tally, Value
from affidavit.record.compare import display


def known(case: Case, name: str) -> Value | None:
    """Return what the lowest rank that knows it says, or None."""
    return next((value for _, value in case.values(name)), None)


def all_say(case: Case, name: str) -> str:
    """Return what the ranks say, each saying once, or nothing where none knows it."""
    return " and ".join(dict.fromkeys(display(value) for _, value in case.values(name)))


def added(case: Case, name: str) -> Tally | None:
    """Return a tally added up over all ranks that know it, or None where none does."""
    total: Tally | None = None
    for fact in case.facts(name):
        if isinstance(fact.state, Known) and isinstance(fact.state.value, Tally):
            for kind, count in fact.state.value.counts:
                total = (total or Tally(fact.state.value.of, ())).plus(kind, count * max(len(fact.ranks), 1))
    return total


def rows_of(case: Case, name: str) -> Table | None:
    """Return a table that has any rows."""
    table = known(case, name)
    return table if isinstance(table, Table) and table.rows else None


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
