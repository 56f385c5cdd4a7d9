"""The stable form of a live value: JSON that is the same in every process in which the value means the same.

No address, no order of a set, no place of installation gets in; what has no such form is refused by its type. Code that
a value holds is handed to whoever follows code, and stands here by its name.

Source: anchors-mechanisms C1: a pickle by value moved on no change at all, and a key that never hits covers nothing.
Blind to: state that a class leaves out of its own pickle, and state behind a native object that pickles without it.
"""

from __future__ import annotations

import copyreg
import enum
import functools
import hashlib
import logging
import math
import os
import re
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any

from affidavit.cache.preimage import canonical, digest_of

MOST_NODES = 2_000_000
_NO_MEANING = (type(threading.Lock()), type(threading.RLock()), threading.Event, threading.Condition)
_CODE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, type, types.ModuleType, functools.partial)
_DESCRIPTORS = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodWrapperType,
)


class UnstableError(Exception):
    """A value has no stable form; the message names the type, and ``where`` the way to it inside the value."""

    def __init__(self, kind: str, where: str = "") -> None:
        super().__init__(f"{kind} at {where}" if where else kind)


class Former:
    """Forms values, with the project's own place taken out of texts and paths.

    Args:
        project: the folder whose place must not matter.
        code: called for a function, class or module that a value holds; returns its form.
        tokenizer: returns the form of a tokenizer, or None for what is none.
    """

    def __init__(self, project: Path, code: Callable[[Any], Any], tokenizer: Callable[[Any], Any]) -> None:
        self._code = code
        self._tokenizer = tokenizer
        self._nodes = 0
        self._within: dict[int, int] = {}
        self._places = tuple(dict.fromkeys((str(project), os.path.realpath(project))))

    def form(self, value: Any, where: str = "") -> Any:
        """Return the stable form of a value.

        Raises:
            UnstableError: it has none.
        """
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise UnstableError(f"more than {MOST_NODES:,} values", where)
        kind = type(value)
        if value is None or kind in (bool, int):
            return value
        if kind is str:
            return self.text(value)
        if kind is float:
            return ["float", repr(value)] if not math.isfinite(value) else value
        if kind in (bytes, bytearray):
            return [kind.__name__, digest_of(bytes(value)), len(value)]
        if id(value) in self._within:
            return ["within", len(self._within) - self._within[id(value)]]
        self._within[id(value)] = len(self._within)
        try:
            return self._made(value, kind, where)
        except RecursionError:
            raise UnstableError("a value that is nested too deep", where) from None
        finally:
            del self._within[id(value)]

    def text(self, value: str) -> str:
        """Return text with the project's place taken from its front."""
        for place in self._places:
            if value == place or value.startswith(place + os.sep):
                return f"<project>{value[len(place) :]}"
        return value

    def _made(self, value: Any, kind: type, where: str) -> Any:
        if kind in (list, tuple):
            return [kind.__name__, [self.form(each, f"{where}[{at}]") for at, each in enumerate(value)]]
        if kind is dict:
            return ["dict", [[self.form(key), self.form(each, f"{where}[{key!r:.40}]")] for key, each in value.items()]]
        if kind in (set, frozenset):
            return [kind.__name__, sorted((self.form(each, where) for each in value), key=canonical)]
        if isinstance(value, PurePath):
            return ["path", self.text(str(value))]
        if isinstance(value, _CODE) or (callable(value) and hasattr(value, "__wrapped__")):
            return self._code(value)
        if isinstance(value, enum.Enum):
            return ["enum", self._code(kind), value.name, self.form(value.value, where)]
        if isinstance(value, (logging.Logger, logging.LoggerAdapter, *_NO_MEANING)) or _is_terminal(value):
            return ["no meaning", kind.__name__]
        if isinstance(value, (staticmethod, classmethod)):
            return [kind.__name__, self.form(value.__func__, where)]
        if isinstance(value, property):
            return ["property", [self.form(each, where) for each in (value.fget, value.fset, value.fdel)]]
        if isinstance(value, functools.cached_property):
            return ["property", self.form(value.func, where)]
        if isinstance(value, _DESCRIPTORS):
            return ["native", getattr(value, "__qualname__", value.__name__)]
        if isinstance(value, types.MappingProxyType):
            return ["mapping", self.form(dict(value), where)]
        if isinstance(value, re.Pattern):
            return ["pattern", self.form(value.pattern), value.flags]
        if isinstance(value, types.CodeType):
            from affidavit.cache.key.source import digest_of_code

            return ["code", digest_of_code(value)]
        if kind.__module__ in ("typing", "types") and " at 0x" not in repr(value):
            return ["type", repr(value)]
        tokenizer = self._tokenizer(value)
        if tokenizer is not None:
            return tokenizer
        block = _block(value, kind)
        return [self._code(kind), block] if block is not None else self._object(value, kind, where)

    def _object(self, value: Any, kind: type, where: str) -> Any:
        """Return the form of any other object: its class, and the state of which it would be made again."""
        called = f"{kind.__module__}.{kind.__qualname__}"
        native = _state_of_native(value, kind)
        if native is not None:
            return [self._code(kind), self.form(native, where)]
        if kind.__module__ in ("builtins", "itertools") and hasattr(kind, "__next__"):
            raise UnstableError(f"a {called}, which whoever reads it moves", where)
        reduce = copyreg.dispatch_table.get(kind)
        try:
            made = reduce(value) if reduce else value.__reduce_ex__(2)
        except Exception as error:
            raise UnstableError(
                f"a {called}, which has no state that can be read ({type(error).__name__})", where
            ) from error
        if isinstance(made, str):
            return ["global", kind.__module__, made]
        maker, arguments, state, rows, items = (*made, None, None, None)[:5]
        if maker is getattr(copyreg, "_reconstructor", None):
            raise UnstableError(f"a {called}", where)
        form: list[Any] = [self._code(kind), self.form(maker, where), self._rest(arguments, kind, where)]
        form.append(self._attributes(state, where))
        form.append([self.form(each, where) for each in rows or ()])
        form.append([[self.form(key), self.form(each, where)] for key, each in items or ()])
        return form

    def _rest(self, arguments: Any, kind: type, where: str) -> Any:
        return [self.form(each, where) for each in arguments if each is not kind]

    def _attributes(self, state: Any, where: str) -> Any:
        """Return the form of a state; the order in which attributes were set says nothing."""
        if isinstance(state, tuple) and len(state) == 2 and all(isinstance(part, (dict, type(None))) for part in state):
            return [self._attributes(part, where) for part in state]
        if isinstance(state, dict) and all(isinstance(key, str) for key in state):
            return [[key, self.form(state[key], f"{where}.{key}")] for key in sorted(state)]
        return self.form(state, where)


def _is_terminal(value: Any) -> bool:
    return any(value is stream for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__))


def _block(value: Any, kind: type) -> Any:
    """Return the form of an array, a tensor or a table by its bytes, or None where it is none of these."""
    top = kind.__module__.partition(".")[0]
    if top == "numpy" and hasattr(value, "dtype") and hasattr(value, "tobytes"):
        if value.dtype.hasobject:
            return None
        return ["numpy", value.dtype.str, list(value.shape), digest_of(value.tobytes())]
    if hasattr(value, "untyped_storage") and hasattr(value, "detach"):
        return _tensor(value)
    if top == "pyarrow" and hasattr(value, "schema") and hasattr(value, "to_batches"):
        return ["table", digest_of_table(value)]
    if hasattr(value, "_fingerprint") and hasattr(value, "_indices") and hasattr(value, "data"):
        rows = digest_of_table(value.data.table)
        order = digest_of_table(value._indices.table) if value._indices is not None else ""
        return ["dataset", rows, order, str(value.format), str(value.features)]
    return None


def _tensor(value: Any) -> Any:
    if value.device.type != "cpu":
        raise UnstableError(f"a tensor on {value.device}")
    torch = sys.modules["torch"]
    flat = value.detach().contiguous().reshape(-1).view(torch.uint8)
    return ["tensor", str(value.dtype), list(value.shape), digest_of(flat.numpy().tobytes())]


def digest_of_table(table: Any) -> str:
    """Return the digest of an Arrow table's rows, whatever chunks they lie in and wherever they came from."""
    import pyarrow

    hashed = hashlib.sha256(str(table.schema.remove_metadata()).encode())

    class Sink:
        closed = False

        def write(self, data: Any) -> int:
            hashed.update(data)
            return len(data)

        def close(self) -> None:
            self.closed = True

        def flush(self) -> None:
            return None

        def writable(self) -> bool:
            return True

        def readable(self) -> bool:
            return False

        def seekable(self) -> bool:
            return False

    bare = table.replace_schema_metadata(None)
    with pyarrow.ipc.new_stream(pyarrow.PythonFile(Sink(), mode="w"), bare.schema) as writer:
        for at in range(0, len(bare), 4096):
            writer.write_table(bare.slice(at, 4096).combine_chunks())
    return f"sha256:{hashed.hexdigest()}"


def _state_of_native(value: Any, kind: type) -> Any:
    """Return the state of the few native kinds whose pickle is not all of it or not the same twice."""
    if kind.__name__ == "SentencePieceProcessor":
        return value.serialized_model_proto()
    return None
