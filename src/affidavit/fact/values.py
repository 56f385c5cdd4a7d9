"""The closed algebra of values that a fact can have, and its one JSON form.

A value that is not typed lies: RFC 8785 writes 1.0 and 1 as the same bytes, NaN becomes null in most encoders,
and integers over 2^53 lose their last digits. So every value travels under a tag, and nothing outside the algebra
(no dict, no list, no None) can become a fact.

Source: critic-architect (b); RFC 8785 §3.2.2.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from affidavit.fact.errors import AffidavitError

EXACT_INTEGER = 2**53
"""Integers beyond this are not exact in JSON and travel as strings."""

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

    def records(self) -> tuple[dict[str, Cell], ...]:
        """Return one dict a row, for reading only."""
        return tuple(dict(zip(self.columns, row)) for row in self.rows)

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


# --- JSON ------------------------------------------------------------------------------------------------------


def _encode_int(value: int) -> object:
    return value if -EXACT_INTEGER < value < EXACT_INTEGER else str(value)


def _encode_float(value: float) -> object:
    return value if math.isfinite(value) else repr(value)


def _encode_str(value: str) -> object:
    try:
        value.encode()
    except UnicodeEncodeError:  # a file name that is not UTF-8: as bytes, so that nothing is replaced
        return {"bytes": base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()}
    return value


def _cell(value: Cell) -> object:
    if type(value) is bool:
        return value
    if type(value) is int:
        return _encode_int(value)
    if type(value) is float:
        return _encode_float(value)
    return _encode_str(str(value))


def to_json(value: Value) -> dict[str, object]:
    """Return the one JSON form of a value: an object with a single key, its tag.

    Raises:
        ValueShapeError: the value is outside the algebra; None is never a value.
    """
    if type(value) is bool:
        return {"bool": value}
    if type(value) is int:
        return {"int": _encode_int(value)}
    if type(value) is float:
        return {"float": _encode_float(value)}
    if type(value) is str:
        return {"str": _encode_str(value)}
    if type(value) is Digest:
        return {"digest": str(value)}
    if type(value) is tuple and all(type(item) is str for item in value):
        return {"strings": [_encode_str(item) for item in value]}
    if type(value) is Tally:
        counts = [[_encode_str(kind), _encode_int(count)] for kind, count in value.counts]
        return {"tally": {"of": _encode_str(value.of), "counts": counts}}
    if type(value) is Table:
        kinds = [type(cells[0]).__name__ for cells in zip(*value.rows)] or ["str"] * len(value.columns)
        rows = [[_cell(cell) for cell in row] for row in value.rows]
        return {"table": {"columns": [_encode_str(name) for name in value.columns], "types": kinds, "rows": rows}}
    if type(value) is Series:
        x, y = [_encode_int(x) for x in value.x], [_encode_float(y) for y in value.y]
        return {"series": {"x": x, "y": y, "unit": _encode_str(value.unit)}}
    if type(value) is Layers:
        return {"layers": [[_encode_str(run), _encode_str(of)] for run, of in value.runs]}
    raise ValueShapeError(f"value: expected one of {names(VALUE_TYPES)}, saw {type(value).__name__}: {value!r:.120}.")


def names(types: Iterable[type]) -> str:
    return ", ".join(kind.__name__ for kind in types)


def _decode_int(raw: object) -> int:
    if type(raw) is int and -EXACT_INTEGER < raw < EXACT_INTEGER:
        return raw
    if type(raw) is str and re.fullmatch(r"-?[0-9]{1,4000}", raw):
        return int(raw)
    raise ValueShapeError(f"int: expected an integer, as text from 2^53 on, saw {raw!r:.80}.")


def _decode_float(raw: object) -> float:
    if type(raw) in (int, float) or raw in ("nan", "inf", "-inf"):
        return float(raw)  # type: ignore[arg-type]
    raise ValueShapeError(f"float: expected a number, nan, inf or -inf, saw {raw!r:.80}.")


def _decode_str(raw: object) -> str:
    if type(raw) is str:
        return raw
    if isinstance(raw, dict) and set(raw) == {"bytes"}:
        return base64.b64decode(str(raw["bytes"]), validate=True).decode("utf-8", "surrogatepass")
    raise ValueShapeError(f"str: expected text, saw {raw!r:.80}.")


def _decode_bool(raw: object) -> bool:
    if type(raw) is bool:
        return raw
    raise ValueShapeError(f"bool: expected true or false, saw {raw!r:.80}.")


_CELLS: dict[str, Callable[[object], Cell]] = {
    "bool": _decode_bool,
    "int": _decode_int,
    "float": _decode_float,
    "str": _decode_str,
}


def _decode_tally(raw: object) -> Tally:
    of, counts = _fields(raw, "of", "counts")
    pairs = (_items(pair) for pair in _items(counts))
    return Tally(_decode_str(of), tuple((_decode_str(kind), _decode_int(count)) for kind, count in pairs))


def _decode_table(raw: object) -> Table:
    columns, types, rows = _fields(raw, "columns", "types", "rows")
    readers = [_CELLS[_decode_str(kind)] for kind in _items(types)]
    decoded = tuple(tuple(read(cell) for read, cell in zip(readers, _items(row), strict=True)) for row in _items(rows))
    return Table(tuple(_decode_str(name) for name in _items(columns)), decoded)


def _decode_series(raw: object) -> Series:
    x, y, unit = _fields(raw, "x", "y", "unit")
    return Series(tuple(map(_decode_int, _items(x))), tuple(map(_decode_float, _items(y))), _decode_str(unit))


def _items(raw: object) -> list[object]:
    if type(raw) is not list:
        raise ValueShapeError(f"expected a list, saw {raw!r:.80}.")
    return raw


def _fields(raw: object, *wanted: str) -> tuple[object, ...]:
    if not isinstance(raw, dict) or set(raw) != set(wanted):
        raise ValueShapeError(f"expected the fields {', '.join(wanted)}, saw {raw!r:.120}.")
    return tuple(raw[field] for field in wanted)


_TAGS: dict[str, Callable[[object], Value]] = {
    **_CELLS,
    "digest": lambda raw: Digest.parse(_decode_str(raw)),
    "strings": lambda raw: tuple(_decode_str(item) for item in _items(raw)),
    "tally": _decode_tally,
    "table": _decode_table,
    "series": _decode_series,
    "layers": lambda raw: Layers(tuple((_decode_str(run), _decode_str(of)) for run, of in map(_items, _items(raw)))),
}


def from_json(raw: object) -> Value:
    """Return the value that :func:`to_json` wrote.

    Raises:
        ValueShapeError: not a form that we write; the message shows the beginning of what was there.
    """
    if not isinstance(raw, dict) or len(raw) != 1 or next(iter(raw)) not in _TAGS:
        raise ValueShapeError(f"value: expected one tag of {', '.join(_TAGS)}, saw {raw!r:.120}.")
    ((tag, body),) = raw.items()
    try:
        return _TAGS[tag](body)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueShapeError(f"value {tag}: {error}; saw {body!r:.120}.") from error
