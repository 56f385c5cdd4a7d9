"""What is kept back of texts and values on their way to strangers, and how much that is."""

from __future__ import annotations

from collections.abc import Callable

from affidavit.fact.values import Digest, Layers, Series, Table, Tally, Value
from affidavit.report.page import harmless
from affidavit.report.page.harmless import WITHHELD

_PLACES = frozenset({"path", "source", "file", "name"})
"""Columns that hold places or names of files."""
_OF_PLACES = frozenset({"tree.bystanders", "code.changed_on_disk"})


class Keeper:
    """The door through which every text of a shared copy goes; it counts what it keeps back."""

    def __init__(self) -> None:
        self.withheld = 0

    def say(self, said: str, by: Callable[[str], str] = harmless.text) -> str:
        """Return what may be told of a text: by default all of it or nothing."""
        told = by(said) if said else ""
        self.withheld += WITHHELD in told and WITHHELD not in said
        return told

    def prose(self, said: str) -> str:
        """Return a sentence of ours without the words in it that are somebody else's."""
        return self.say(said, harmless.prose)

    def never(self, said: str) -> str:
        """Return that there was something: what people wrote is told to nobody, whatever its words are."""
        return self.say(said, lambda _: WITHHELD)

    def value(self, name: str, value: Value) -> Value:
        """Return what may be told of the value of a term."""
        if isinstance(value, str):
            return self._line(name, value)
        if isinstance(value, Digest):
            told = self.say(str(value), harmless.digest)
            return value if told != WITHHELD else WITHHELD
        if isinstance(value, tuple):
            return tuple(self.never(part) if name in _OF_PLACES else self.say(part) for part in value)
        if isinstance(value, Tally):
            kinds = self._unlike([kind for kind, _ in value.counts])
            return Tally.count(self.say(value.of), dict(zip(kinds, (count for _, count in value.counts))))
        if isinstance(value, Table):
            return self._table(value)
        if isinstance(value, Series):
            return Series(x=value.x, y=value.y, unit=self.say(value.unit))
        if isinstance(value, Layers):
            return Layers(tuple((self.say(path, harmless.module), self.say(kind)) for path, kind in value.runs))
        return value if isinstance(value, bool | int | float) else self.never(str(value))

    def _line(self, name: str, value: str) -> str:
        """Return a value that is one text; what the tree gate was told ends in a person's reason."""
        if name == "tree.gate":
            answer, colon, reason = value.partition(":")
            return f"{self.say(answer)}{colon} {self.never(reason)}" if colon else self.prose(value)
        return self.prose(value) if name == "code.commit" else self.say(value)

    def _table(self, table: Table) -> Table:
        columns = self._unlike(list(table.columns))
        rows = tuple(
            tuple(
                (self.never(cell) if column in _PLACES else self.say(cell)) if isinstance(cell, str) else cell
                for column, cell in zip(table.columns, row)
            )
            for row in table.rows
        )
        return Table(columns, rows)

    def _unlike(self, names: list[str]) -> tuple[str, ...]:
        """Return names of which no two are alike, though several may be withheld."""
        told = [self.say(name) for name in names]
        return tuple(
            f"{name} {told[:place].count(name) + 1}" if name in told[:place] else name
            for place, name in enumerate(told)
        )
