"""Files that nothing names, and the reader that their keys are like: enough to say what was removed, not to refuse.

A key of such a file may belong to a reader that was not seen. So only two things are held against the classes: keys
that they take, and keys that they once took and no longer do. The rest is told with a guard.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from affidavit.lint.configs import tools
from affidavit.lint.configs.asked import Asked, ask, split, without
from affidavit.lint.configs.certain import ENVIRONMENT
from affidavit.lint.configs.document import Document, Entry, last
from affidavit.lint.configs.kind import is_like
from affidavit.lint.configs.numbers import doubtful_numbers
from affidavit.lint.configs.taken import (
    Lookup,
    Taken,
    keeps_rest,
    lenient_of_files,
    look_up,
    numeric_of,
    reads_files,
    taken,
)
from affidavit.lint.scripts.reading import Parser
from affidavit.names import history
from affidavit.names.answer import nearest
from affidavit.names.signature import Signature

_SURE = 0.8
"""With one reader in the project, and this share of a file's keys among its fields, a near miss is its misspelling."""
_NEAR = 0.88
_COMMON = frozenset(
    {"train", "training", "trainer", "run", "main", "finetune", "tune", "script", "example", "py", "cli"}
)
"""Words of a script's name that say nothing of which."""


class Likely:
    """The readers of a project and what each takes, looked up once and only when a file is there to be compared."""

    def __init__(self, parsers: Sequence[Parser], lookup: Lookup, root: Path, read_names: Container[str]) -> None:
        self._all = parsers
        self._root = root
        self._parsers = [parser for parser in parsers if reads_files(parser)]
        self._lookup = lookup
        self._read_names = read_names

    def ask(self, asked: Asked, document: Document, *, is_arguments: bool) -> None:
        """Add what a file asks of the readers that its keys are like, or of nobody certain.

        Blind to: files whose keys are like no reader's.
        """
        document = without(document, {ENVIRONMENT})
        names = set(document.names)
        readers, is_sure = self._candidates(document.path)
        alike = [(parser, takes) for parser, takes in readers if is_like(names, takes.known)]
        if alike:
            self._ask_alike(asked, document, names, [parser for parser, _ in alike], is_sure=is_sure)
        elif is_arguments and is_like(names, self._arguments.known | self._removed(names)):
            self._ask_nobody(asked, document)

    def _candidates(self, path: Path) -> tuple[list[tuple[Parser, Taken]], bool]:
        """Return the readers that a file may have, and whether all that each of them takes is known.

        A script's name in a path says more than its fields: ``recipes/orpo/config.yaml`` is for ``orpo.py``.
        """
        words = _words(path.relative_to(self._root) if path.is_relative_to(self._root) else Path(path.name))
        mine = [one for one in self._readers if (own := _words(Path(one[0].path.stem)) - _COMMON) and own <= words]
        readers = mine or self._readers
        return readers, all(takes.is_closed and not takes.why_open for _, takes in readers)

    def _ask_alike(
        self, asked: Asked, document: Document, names: set[str], parsers: list[Parser], *, is_sure: bool
    ) -> None:
        takes = taken(parsers, self._lookup, options=True)
        guard = "" if is_sure else "another script of the project may read it, whose names are not known"
        guard = next(filter(None, map(keeps_rest, parsers)), guard)
        if any(map(lenient_of_files, parsers)):
            guard = f"{parsers[0].path.name}:{parsers[0].line} drops what it does not take"
        if guard:
            ask(asked, document, last(document.entries), takes, parser=parsers[0], via=_via(parsers), guard=guard)
            return
        is_only = len(self._parsers) == 1 and len(names & takes.known) >= _SURE * len(names)
        certain, others = split(
            last(document.entries),
            lambda entry: (
                entry.key in takes.known
                or (
                    not self._is_foreign(entry.key)
                    and (self._was_taken(entry.key, takes) or (is_only and _near(entry, takes)))
                )
            ),
        )
        via = _via(parsers)
        ask(asked, document, certain, takes, parser=parsers[0], via=via)
        ask(asked, document, others, takes, parser=parsers[0], via=via, guard="nothing names the reader of this file")
        asked.doubtful.extend(doubtful_numbers(document, takes.numeric))

    def _ask_nobody(self, asked: Asked, document: Document) -> None:
        takes = self._arguments
        guard = "nothing names the reader of this file"
        ask(asked, document, last(document.entries), takes, via="its keys are training arguments", guard=guard)
        asked.doubtful.extend(doubtful_numbers(document, takes.numeric))

    def _is_foreign(self, name: str) -> bool:
        """Whether something else may read a name: another class of TRL's, or code of the project."""
        return name in self._read_names or name in self._arguments.parameters or name in self._first_party

    def _was_taken(self, name: str, takes: Taken) -> bool:
        return any(history.said_of(callee, name) for callee in self._defined(takes))

    def _removed(self, names: set[str]) -> frozenset[str]:
        return frozenset(name for name in names if self._was_taken(name, self._arguments))

    def _defined(self, takes: Taken) -> list[str]:
        found = (self._lookup.find(callee) for callee in takes.installed)
        return [signature.callee for signature in found if isinstance(signature, Signature)]

    @cached_property
    def _readers(self) -> list[tuple[Parser, Taken]]:
        return [(parser, taken([parser], self._lookup, options=parser.kind == "TrlParser")) for parser in self._parsers]

    @cached_property
    def _first_party(self) -> frozenset[str]:
        return taken(self._all, None, options=True).own

    @cached_property
    def _arguments(self) -> Taken:
        found = tuple(callee for callee in tools.ARGUMENT_CLASSES if isinstance(self._lookup.find(callee), Signature))
        parameters, is_closed = look_up(found, self._lookup)
        numeric = frozenset(numeric_of(parameters))
        return Taken(installed=found, parameters=parameters, numeric=numeric, is_closed=is_closed)


def _words(path: Path) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", str(path).lower())) - {""}


def _near(entry: Entry, takes: Taken) -> bool:
    near = nearest(entry.key, takes.known)
    return bool(near) and SequenceMatcher(None, entry.key, near).ratio() >= _NEAR


def _via(parsers: list[Parser]) -> str:
    places = ", ".join(dict.fromkeys(f"{parser.path.name}:{parser.line}" for parser in parsers[:3]))
    return f"its keys are those of {places}"
