"""The one JSON form of a value: an object with a single key, its tag.

A value that is not typed lies: RFC 8785 writes 1.0 and 1 as the same bytes, NaN becomes null in most encoders,
and integers over 2^53 lose their last digits. So every value travels under a tag.

Source: critic-architect (b); RFC 8785 §3.2.2.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable

from affidavit.fact.values import (
    VALUE_TYPES,
    Cell,
    Digest,
    Layers,
    Series,
    Table,
    Tally,
    Value,
    ValueShapeError,
    names,
)

EXACT_INTEGER = 2**53
"""Integers beyond this are not exact in JSON and travel as strings."""


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
