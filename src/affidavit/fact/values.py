"""The closed algebra of values that a fact can have: nothing outside it (no dict, no list, no None) becomes a fact.

How a value travels is :mod:`affidavit.fact.encoding`.

Source: critic-architect (b).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from affidavit.fact.errors import AffidavitError

MOST_LAYERS = 1 << 20
"""No model has more; a hostile file that says so would only fill its reader's memory."""

Cell = bool | int | float | str


class ValueShapeError(AffidavitError):
    """A value is outside the algebra, or its JSON form is not one that we write."""


@dataclass(frozen=True)
class Digest:
    """A content digest, with the algorithm that made it: ``sha256:…``."""

    algorithm: str
    hex: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9-]+", self.algorithm) or not re.fullmatch(r"[0-9a-f]{16,128}", self.hex):
            raise ValueShapeError(f"digest: expected algorithm:hex, saw {self.algorithm!r}:{self.hex!r}.")

    def __str__(self) -> str:
        return f"{self.algorithm}:{self.hex}"

    @classmethod
    def parse(cls, text: str) -> Digest:
        algorithm, _, hexadecimal = text.partition(":")
        return cls(algorithm, hexadecimal)


@dataclass(frozen=True)
class Tally:
    """How many of something, by kind; a kind counted as zero is kept, because zero of what was asked is a finding."""

    of: str
    counts: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        if [key for key, _ in self.counts] != sorted({key for key, _ in self.counts}):
            raise ValueShapeError(f"tally of {self.of}: kinds must be sorted and unique, saw {self.counts!r}.")
        if any(type(count) is not int or count < 0 for _, count in self.counts):
            raise ValueShapeError(f"tally of {self.of}: counts are non-negative integers, saw {self.counts!r}.")

    @classmethod
    def count(cls, of: str, counts: Mapping[str, int]) -> Tally:
        return cls(of, tuple(sorted(counts.items())))

    def __getitem__(self, kind: str) -> int:
        return dict(self.counts).get(kind, 0)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that occurred at least once."""
        return tuple(kind for kind, count in self.counts if count)

    @property
    def total(self) -> int:
        return sum(count for _, count in self.counts)

    def plus(self, kind: str, count: int) -> Tally:
        return Tally.count(self.of, {**dict(self.counts), kind: self[kind] + count})

    def moved(self, source: str, target: str, count: int) -> Tally:
        """Return the tally with ``count`` of ``source`` called ``target`` instead: the lens of a sabotage."""
        return self.plus(source, -count).plus(target, count)

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {kind}" for kind, count in self.counts) or f"no {self.of}"


@dataclass(frozen=True)
class Table:
    """Rows under named columns; a column holds one scalar type throughout."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise ValueShapeError(f"table: columns must be named and unique, saw {self.columns!r}.")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueShapeError(f"table: expected {len(self.columns)} cells in a row, saw {row!r}.")
        for column, cells in zip(self.columns, zip(*self.rows)):
            kinds = {type(cell) for cell in cells}
            if not kinds <= {bool, int, float, str} or len(kinds) > 1:
                raise ValueShapeError(
                    f"table column {column}: expected one scalar type, saw {sorted(map(str, kinds))}."
                )

    def column(self, name: str) -> tuple[Cell, ...]:
        return tuple(row[self.columns.index(name)] for row in self.rows)

    def records(self, **shape: type | tuple[type, ...]) -> tuple[dict[str, Cell], ...]:
        """Return one dict a row, for reading only.

        Args:
            shape: columns that a row must have, and the types of their cells; a row of another shape is left out. For
                readers that judge nothing: a record of another version, or a bent one, must not be their crash.
        """
        rows = (dict(zip(self.columns, row)) for row in self.rows)
        return tuple(row for row in rows if all(isinstance(row.get(name), kind) for name, kind in shape.items()))

    def with_cell(self, row: int, column: str, cell: Cell) -> Table:
        """Return the table with one cell changed: the lens of a sabotage."""
        place = self.columns.index(column)
        changed = (*self.rows[row][:place], cell, *self.rows[row][place + 1 :])
        return replace(self, rows=(*self.rows[:row], changed, *self.rows[row + 1 :]))

    def with_row(self, *cells: Cell) -> Table:
        return replace(self, rows=(*self.rows, cells))

    def without_row(self, row: int) -> Table:
        return replace(self, rows=(*self.rows[:row], *self.rows[row + 1 :]))

    def __str__(self) -> str:
        return f"{len(self.rows)} rows of {', '.join(self.columns)}"


@dataclass(frozen=True)
class Series:
    """A number over steps: ``x`` counts steps, ``y`` is in ``unit``."""

    x: tuple[int, ...]
    y: tuple[float, ...]
    unit: str

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y) or list(self.x) != sorted(set(self.x)):
            raise ValueShapeError(f"series: x must rise and match y, saw {len(self.x)} x and {len(self.y)} y.")

    def at(self, step: int, y: float) -> Series:
        """Return the series with another y at one x: the lens of a sabotage."""
        return replace(self, y=tuple(y if x == step else old for x, old in zip(self.x, self.y)))

    def __str__(self) -> str:
        return f"{len(self.x)} points in {self.unit}"


@dataclass(frozen=True)
class Layers:
    """One value a module path, folded over the first index in the path where neighbours agree.

    ``Layers.of({"layers.0.attn": "sdpa", "layers.1.attn": "sdpa"})`` holds the one run
    ``("layers.{0..1}.attn", "sdpa")``; ``expand()`` gives the paths back without loss.
    """

    runs: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        spans = (re.search(r"\{(\d+)\.\.(\d+)\}", run) for run, _ in self.runs)
        if sum(max(int(span[2]) - int(span[1]), 0) for span in spans if span) > MOST_LAYERS:
            raise ValueShapeError(f"layers: expected {MOST_LAYERS:,} modules at most, saw {self.runs!r:.120}.")

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Layers:
        folded: list[tuple[str, list[int], str]] = []
        for path, value in sorted(values.items(), key=lambda item: (_natural(item[0]), item[0])):
            template, index = _template(path)
            if index is None:
                folded.append((path, [], value))
                continue
            last = next((run for run in reversed(folded) if run[0] == template), None)
            if last and last[2] == value and last[1][-1] + 1 == index:
                last[1].append(index)
            else:
                folded.append((template, [index], value))
        return cls(tuple((_folded(template, span), value) for template, span, value in folded))

    def expand(self) -> dict[str, str]:
        """Return every module path with its value."""
        paths: dict[str, str] = {}
        for run, value in self.runs:
            match = re.search(r"\{(\d+)\.\.(\d+)\}", run)
            if match is None:
                paths[run] = value
                continue
            for index in range(int(match[1]), int(match[2]) + 1):
                paths[f"{run[: match.start()]}{index}{run[match.end() :]}"] = value
        return paths

    @property
    def kinds(self) -> tuple[str, ...]:
        """The values that occur, sorted."""
        return tuple(sorted({value for _, value in self.runs}))

    def with_layer(self, path: str, value: str) -> Layers:
        """Return the layers with another value at one path: the lens of a sabotage."""
        paths = self.expand()
        if path not in paths:
            raise ValueShapeError(f"layers: no module {path!r}; it holds {', '.join(run for run, _ in self.runs)}.")
        return Layers.of({**paths, path: value})

    def __str__(self) -> str:
        return ", ".join(f"{value} ({run})" for run, value in self.runs) or "no layers"


Value = bool | int | float | str | Digest | tuple[str, ...] | Tally | Table | Series | Layers
VALUE_TYPES: tuple[type, ...] = (bool, int, float, str, Digest, tuple, Tally, Table, Series, Layers)


def another(value: Value) -> Value:
    """Return a value of the same type that is not this one: the lens of a sabotage that fits any term."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value} of somebody else's"
    if isinstance(value, Digest):
        return Digest(value.algorithm, value.hex.translate(str.maketrans("0123456789abcdef", "123456789abcdef0")))
    if isinstance(value, Tally):
        return value.plus("somebody_elses", 1)
    if isinstance(value, Table):
        return value.without_row(0) if value.rows else Table(value.columns, (("somebody_elses",) * len(value.columns),))
    if isinstance(value, Series):
        return replace(value, unit=f"{value.unit} of somebody else's")
    if isinstance(value, Layers):
        return Layers.of({**value.expand(), "somebody.elses": "somebody_elses"})
    return (*value, "somebody_elses")


def names(types: Iterable[type]) -> str:
    return ", ".join(kind.__name__ for kind in types)


def _natural(path: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in path.split(".")]


def _template(path: str) -> tuple[str, int | None]:
    parts = path.split(".")
    for place, part in enumerate(parts):
        if part.isdecimal() and str(int(part)) == part:
            return ".".join((*parts[:place], "{}", *parts[place + 1 :])), int(part)
    return path, None


def _folded(template: str, span: list[int]) -> str:
    if not span:
        return template
    return template.replace("{}", str(span[0]) if len(span) == 1 else f"{{{span[0]}..{span[-1]}}}", 1)
