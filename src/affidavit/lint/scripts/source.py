"""One file of a project: its bytes, what they mention, and its tree, made when it is first asked for."""

from __future__ import annotations

import ast
import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from affidavit.lint.scripts import guard
from affidavit.lint.scripts.value import Class, Frame, Function

WATCHED: Final = frozenset(
    {
        "accelerate",
        "bitsandbytes",
        "datasets",
        "deepspeed",
        "evaluate",
        "huggingface_hub",
        "joblib",
        "lightning",
        "peft",
        "pytorch_lightning",
        "safetensors",
        "sentence_transformers",
        "tokenizers",
        "torch",
        "transformers",
        "trl",
    }
)
"""Packages whose callables are looked at; others raise for a wrong name, or are not about training."""

_NO_PYTHON: Final = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(eq=False)
class Source:
    """One file; ``module`` is its dotted name below the project's root, ``folder`` where its imports start."""

    path: Path
    module: str
    raw: bytes = b""
    trouble: tuple[int, str] | None = None
    frame: Frame | None = None
    volatile: set[str] | None = None
    functions: tuple[Function, ...] = ()
    stirring: frozenset[str] = frozenset()
    is_worthy: bool = False
    matters: dict[str, bool] = field(default_factory=dict)
    spoken: dict[int, str] = field(default_factory=dict)
    told: dict[int, tuple[frozenset[str], bool]] = field(default_factory=dict)
    aliases: tuple[bytes, ...] = ()

    @property
    def is_package(self) -> bool:
        """Whether the file stands for its folder."""
        return self.path.name == "__init__.py"

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree; None where there is none, and ``trouble`` says why."""
        if self.trouble is not None:
            return None
        try:
            return ast.parse(self.raw)
        except _NO_PYTHON as error:
            self._refuse(error)
            return None

    def check(self) -> None:
        """Note where a file is no Python that would not be parsed otherwise; that costs half of a tree."""
        if self.trouble is None and "tree" not in self.__dict__:
            try:
                compile(self.raw, str(self.path), "exec", dont_inherit=True)
            except _NO_PYTHON as error:
                self._refuse(error)

    def _refuse(self, error: BaseException) -> None:
        line = (error.lineno or 0) if isinstance(error, SyntaxError) else 0
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        self.trouble = (line, f"no Python that {_python()} reads: {what}"[:200])

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line starts, and the end."""
        starts, place = [0], self.raw.find(b"\n")
        while place >= 0:
            starts.append(place + 1)
            place = self.raw.find(b"\n", place + 1)
        return [*starts, len(self.raw)]

    def text(self, node: ast.stmt) -> bytes:
        """Return the bytes of the lines on which a statement stands."""
        starts, last = self._starts, len(self._starts) - 1
        return self.raw[starts[min(node.lineno - 1, last)] : starts[min(node.end_lineno or node.lineno, last)]]

    @cached_property
    def probes(self) -> frozenset[str]:
        """The names by which the file knows what is installed."""
        return frozenset(guard.probes(self.raw))

    def forget(self) -> None:
        """Let the tree go. Scopes hold functions that hold scopes: without this only the collector could free them."""
        for function in self.functions:
            function.frame.names.clear()
        if self.frame is not None:
            for value in self.frame.names.values():
                if isinstance(value, Class):
                    value.body.clear()
            self.frame.names.clear()
        self.functions = ()
        self.__dict__.pop("tree", None)


def _python() -> str:
    import sys

    return f"Python {sys.version_info.major}.{sys.version_info.minor}"


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the user's invalid escapes from being printed, and the collector from walking half-made trees."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if was_on:
            gc.enable()


def read(path: Path, module: str) -> Source:
    """Return the file's bytes, or why there are none."""
    try:
        return Source(path=path, module=module, raw=path.read_bytes())
    except OSError as error:
        return Source(path=path, module=module, trouble=(0, f"cannot be read: {error.strerror or error}"))
