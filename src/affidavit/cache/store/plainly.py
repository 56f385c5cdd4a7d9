"""Values as they are stored, without pickle: plain data as JSON, arrays as .npy, tables as Arrow.

Reading one runs no code, and what was read is what was stored, kind for kind; what cannot be stored so is not stored.

Source: silent-failure-corpus L1; numpy.load(allow_pickle=False).
Blind to: two places of a value that hold one object; they hold two when it is read back.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from typing import Any

NPY = "npy"
ARROW = "arrow"
_TAG = "$"


class NotPlainError(Exception):
    """A value holds what is neither plain data nor an array nor a table; the message says where and what."""


def taken_apart(value: Any) -> tuple[Any, list[tuple[str, Any]]]:
    """Return a value as JSON, and what of it lies beside it: (kind, array or table).

    Raises:
        NotPlainError: it cannot be stored so that it comes back as it was.
    """
    beside: list[tuple[str, Any]] = []
    return _apart(value, beside, "the value"), beside


def put_together(said: Any, beside: Callable[[int], Any]) -> Any:
    """Return a value from its JSON and what lies beside it."""
    if isinstance(said, list):
        return [put_together(each, beside) for each in said]
    if not isinstance(said, dict):
        return said
    if _TAG not in said:
        return {name: put_together(each, beside) for name, each in said.items()}
    kind, inner = said[_TAG], said["of"]
    if kind == "beside":
        return beside(inner)
    if kind == "float":
        return float(inner)
    if kind == "tuple":
        return tuple(put_together(each, beside) for each in inner)
    if kind == "bytes":
        return bytes.fromhex(inner)
    return {put_together(key, beside): put_together(each, beside) for key, each in inner}


def _apart(value: Any, beside: list[tuple[str, Any]], where: str) -> Any:
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {_TAG: "float", "of": repr(value)}
    if kind is bytes:
        return {_TAG: "bytes", "of": value.hex()}
    if kind is list:
        return [_apart(each, beside, f"{where}[{at}]") for at, each in enumerate(value)]
    if kind is tuple:
        return {_TAG: "tuple", "of": [_apart(each, beside, f"{where}[{at}]") for at, each in enumerate(value)]}
    if kind is dict:
        return _mapping(value, beside, where)
    top = kind.__module__.partition(".")[0]
    if top == "numpy" and kind.__name__ == "ndarray" and not value.dtype.hasobject:
        beside.append((NPY, value))
    elif top == "pyarrow" and kind.__name__ == "Table":
        beside.append((ARROW, value))
    else:
        raise NotPlainError(f"{where} is a {kind.__module__}.{kind.__qualname__}")
    return {_TAG: "beside", "of": len(beside) - 1}


def _mapping(value: dict[Any, Any], beside: list[tuple[str, Any]], where: str) -> Any:
    if all(type(name) is str for name in value) and _TAG not in value:
        return {name: _apart(each, beside, f"{where}[{name!r:.40}]") for name, each in value.items()}
    pairs = [
        [_apart(key, beside, f"a key of {where}"), _apart(each, beside, f"{where}[{key!r:.40}]")]
        for key, each in value.items()
    ]
    return {_TAG: "dict", "of": pairs}


def text(said: Any) -> bytes:
    """Return JSON as it is stored; the order of names is part of a value."""
    return json.dumps(said, separators=(",", ":"), allow_nan=False).encode()


def array_bytes(value: Any) -> bytes:
    import numpy

    out = io.BytesIO()
    numpy.save(out, value, allow_pickle=False)
    return out.getvalue()


def array_from(data: bytes) -> Any:
    import numpy

    return numpy.load(io.BytesIO(data), allow_pickle=False)


def table_bytes(value: Any) -> bytes:
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, value.schema) as writer:
        writer.write_table(value)
    return bytes(sink.getvalue())


def table_from(data: bytes) -> Any:
    import pyarrow

    return pyarrow.ipc.open_stream(data).read_all()
