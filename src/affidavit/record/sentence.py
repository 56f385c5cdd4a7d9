"""A value in English: the sentence of its term with the value in its place, as lock, ``accept`` and ``diff`` say it."""

from __future__ import annotations

from collections import Counter

from affidavit.fact.term import Term
from affidavit.fact.values import Layers, Table, Tally, Value
from affidavit.record.compare import display

LONGEST = 160
_CELLS = 4
_DIGITS = 10


def sentence(term: Term, value: Value) -> str:
    """Return what a value says of its term, for a reader who does not know the term."""
    return usual(term, value) or phrased(term, short(value))


def phrased(term: Term, text: str) -> str:
    """Return the sentence of a term about a text that stands for its value, or its name where it has no sentence."""
    return term.phrase.replace("{}", text) if term.phrase else f"{term.name} is {text}"


def usual(term: Term, value: Value) -> str:
    """Return the words for a value that says nothing special, or nothing where it does."""
    return next((words for said, words in term.usual if said == value and type(said) is type(value)), "")


def short(value: Value | str) -> str:
    """Return a value in few words: layers by how many places share a value, a table by its rows, no long text whole."""
    if isinstance(value, Layers):
        places = Counter(value.expand().values())
        said = ", ".join(f"{kind} in {count:,} {_noun(count, 'place')}" for kind, count in sorted(places.items()))
    elif isinstance(value, Table):
        said = "; ".join(row(cells) for cells in value.rows[:_CELLS])
        said += f"; and {len(value.rows) - _CELLS} more" if len(value.rows) > _CELLS else ""
    elif isinstance(value, Tally):
        said = ", ".join(f"{count:,} {kind}" for kind, count in value.counts if count)
    elif isinstance(value, float):
        said = repr(value) if len(repr(value)) <= _DIGITS else f"{value:g}"
    else:
        said = display(value)
    return clipped(said or "none")


def row(cells: tuple[object, ...]) -> str:
    """Return a row of a table as a reader sees it."""
    return ", ".join(map(str, cells))


def clipped(text: str) -> str:
    """Return a text that fits in a sentence; the record holds the whole."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _noun(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
