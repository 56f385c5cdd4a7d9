"""What can hold anything that is looked for, told from bytes: most files and most functions cannot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from affidavit.lint.scripts.source import Source
from affidavit.lint.scripts.torch import TORCH, is_about_training, trains
from affidavit.lint.scripts.value import (
    Class,
    Function,
    Installed,
    Instance,
    Items,
    Lazy,
    Namespace,
    Object,
    Parsing,
    Partial,
    Value,
)

_PARSERS: Final = (b"ArgumentParser", b"TrlParser", b".add_argument(")
_NAMED: Final = re.compile(rb"(\w+)(?:[ \t]+as[ \t]+(\w+))?")


@dataclass(frozen=True)
class Interest:
    """Says from the bytes alone whether a file can hold anything that is looked for. Bytes that are found are cheap;
    patterns are not, so they come last."""

    watched: frozenset[str]

    @cached_property
    def _tops(self) -> tuple[bytes, ...]:
        return tuple(one.encode() for one in sorted(self.watched - {"torch"}))

    @cached_property
    def _imports(self) -> re.Pattern[bytes]:
        words = b"|".join(self._tops) or rb"(?!)"
        return re.compile(
            rb"^[ \t]*(?:from[ \t]+(?:" + words + rb")[\w.]*[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)"
            rb"|import[ \t]+([^\n#;]*\b(?:" + words + rb")\b[^\n#;]*))",
            re.MULTILINE,
        )

    def holds(self, source: Source) -> bool:
        """Whether the file calls or extends something of a watched package, or makes a parser."""
        raw = source.raw
        if any(word in raw for word in _PARSERS) or ("torch" in self.watched and trains(raw)):
            return True
        return any(_is_used(raw, name) for name in source.aliases)

    def is_named(self, raw: bytes) -> bool:
        """Whether the file imports anything of a watched package, used or not."""
        return any(one in raw for one in self._tops) and self._imports.search(raw) is not None

    def aliases(self, raw: bytes) -> Iterator[bytes]:
        """Yield the names that a file imports from watched packages."""
        if not any(one in raw for one in self._tops):
            return
        for match in self._imports.finditer(raw):
            for name, alias in _NAMED.findall(match.group(1) or match.group(2)):
                yield alias or name
            if match.group(2) and b"." in match.group(2):
                yield from self._tops

    def starts(self, raw: bytes) -> bool:
        """Whether a function comes to a watched callable by an import of its own."""
        if b"import " in raw and self._imports.search(raw) is not None:
            return True
        return any(word in raw for word in _PARSERS)


def _is_used(raw: bytes, name: bytes) -> bool:
    """Whether a name may be called, extended or handed on, and does not only stand in an import or a hint."""
    return any(
        part in raw
        for part in (
            name + b"(",
            name + b".",
            b"(" + name + b")",
            b"(" + name + b",",
            b"= " + name,
            b", " + name + b")",
        )
    )


def stir(source: Source, interest: Interest) -> None:
    """Note which names of a walked file can come to a watched callable: what is one, and what calls it."""
    names = source.frame.names if source.frame is not None else {}
    found = {name for name, value in names.items() if _stirs(value, interest.watched)}
    has_torch = trains(source.raw)
    text: dict[str, bytes] = {}
    for name, value in names.items():
        if (isinstance(value, Function) and value.frame.source is source) or isinstance(value, Class):
            home = value.frame.source if isinstance(value, Function) else value.source
            text[name] = home.text(value.node)
    for _ in range(2):  # what calls it, and what calls that
        looked = tuple(name.encode() for name in found)
        found |= {
            name for name, raw in text.items() if name not in found and is_stirred(raw, interest, looked, has_torch)
        }
    source.stirring = frozenset(found)


def is_stirred(raw: bytes, interest: Interest, names: tuple[bytes, ...], has_torch: bool) -> bool:
    """Whether a function's text holds one of these names, or comes to a watched callable on its own."""
    if any(name in raw for name in names) or interest.starts(raw):
        return True
    return has_torch and any(word in raw for word in TORCH)


def _stirs(value: Value, watched: frozenset[str]) -> bool:
    if isinstance(value, Installed):
        top = value.dotted.partition(".")[0]
        if top == "torch":
            return is_about_training(value.dotted)
        return top in watched or top == "argparse"
    if isinstance(value, Items):
        return any(_stirs(one, watched) for one in value.items)
    if isinstance(value, Lazy):
        return value.name in value.source.stirring or (not value.name and bool(value.source.stirring))
    return isinstance(value, Instance | Parsing | Namespace | Partial | Object)
