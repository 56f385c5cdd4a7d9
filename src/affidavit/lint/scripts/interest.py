"""What can hold anything that is looked for, told from bytes: most files and most functions cannot."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from affidavit.lint.scripts.source import Source
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

_PARSER: Final = re.compile(rb"ArgumentParser|TrlParser|\.add_argument\(")
_TORCH: Final = re.compile(
    rb"\boptim\b|lr_scheduler|DataLoader|autocast|GradScaler|\bcompile\(|\bcheckpoint\(|DataParallel|DistributedSampler"
    rb"|fully_shard|scaled_dot_product|clip_grad|\btorch\.(?:load|save)\b|init_process_group|CrossEntropyLoss"
    rb"|cross_entropy"
)
"""What of torch is about training. Half of all files import torch; few of them call it by name."""


@dataclass(frozen=True)
class Interest:
    """Says from the bytes alone whether a file can hold anything that is looked for."""

    watched: frozenset[str]

    @cached_property
    def _imports(self) -> re.Pattern[bytes]:
        return _importing(self.watched - {"torch"})

    @cached_property
    def _imports_torch(self) -> re.Pattern[bytes]:
        return _importing({"torch"} & self.watched)

    def holds(self, raw: bytes) -> bool:
        """Whether the file imports a watched package or makes a parser."""
        if _PARSER.search(raw) or self._imports.search(raw):
            return True
        return self._imports_torch.search(raw) is not None and _TORCH.search(raw) is not None

    @cached_property
    def mention(self) -> re.Pattern[bytes]:
        """Any word by which a function can come to a watched callable on its own."""
        words = sorted((self.watched - {"torch"}) | {"argparse", "ArgumentParser", "TrlParser"})
        return re.compile(rb"\b(?:" + "|".join(words).encode() + rb")\b")


def _importing(packages: Iterable[str]) -> re.Pattern[bytes]:
    words = "|".join(sorted(packages)).encode() or rb"(?!)"
    return re.compile(rb"^[ \t]*(?:from|import)[ \t]+(?:[\w., \t]*[ \t,])?(?:" + words + rb")\b", re.MULTILINE)


_PLAIN: Final = frozenset({"torch", "torch.nn", "torch.nn.functional", "torch.Tensor", "torch.nn.Module"})
"""Names of torch that stand in every function."""


def stirring(source: Source, interest: Interest) -> Callable[[ast.stmt], bool]:
    """Return what says whether a function of a walked file can come to a watched callable."""
    names = source.frame.names if source.frame is not None else {}
    found = {name for name, value in names.items() if _stirs(value, interest.watched)}
    local = {name: value for name, value in names.items() if isinstance(value, Function | Class)}
    text = {name: value.frame.source.text(value.node) for name, value in local.items() if isinstance(value, Function)}
    text |= {name: value.source.text(value.node) for name, value in local.items() if isinstance(value, Class)}
    for _ in range(2):  # what calls it, and what calls that
        word = _words(found)
        found |= {name for name, raw in text.items() if name not in found and _any(raw, interest, word)}
    word = _words(found)
    return lambda node: _any(source.text(node), interest, word)


def _any(raw: bytes, interest: Interest, word: re.Pattern[bytes]) -> bool:
    return bool(interest.mention.search(raw) or word.search(raw) or _TORCH.search(raw))


def _words(names: Iterable[str]) -> re.Pattern[bytes]:
    return re.compile(rb"\b(?:" + ("|".join(sorted(names)).encode() or rb"(?!)") + rb")\b")


def _stirs(value: Value, watched: frozenset[str]) -> bool:
    if isinstance(value, Installed):
        return value.dotted not in _PLAIN and value.dotted.partition(".")[0] in watched | {"argparse"}
    if isinstance(value, Items):
        return any(_stirs(one, watched) for one in value.items)
    return isinstance(value, Instance | Parsing | Namespace | Partial | Lazy | Object)
