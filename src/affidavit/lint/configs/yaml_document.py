"""YAML as nodes: lines, duplicate keys and quotes are there, which a loaded mapping has lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from affidavit.lint.configs.document import MOST_ENTRIES, Document, Entry, TooLargeError
from affidavit.lint.request import Unread

_ANCHOR = re.compile(r"(?<=[\s:])&[\w-]+")
_PREFIX = "tag:yaml.org,2002:"


def read_yaml(path: Path, text: str) -> tuple[Document, ...] | Unread:
    """Return the mappings that a YAML file holds, or why it is none.

    Source: YAML 1.1 as PyYAML's safe loader reads it, which is what every reader of training configs uses.
    Blind to: tags that a program's own loader resolves; they are text here.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        nodes = list(yaml.compose_all(text, Loader=loader))
        budget = iter(range(MOST_ENTRIES))
        anchored = frozenset(text.count("\n", 0, found.start()) + 1 for found in _ANCHOR.finditer(text))
        found = (tuple(_entries(node, budget, ())) for node in nodes if isinstance(node, yaml.MappingNode))
        return tuple(Document(path=path, entries=_marked(entries, anchored)) for entries in found)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return Unread(path=path, line=mark.line + 1 if mark else 1, why=f"no YAML: {error.problem or error.context}")
    except yaml.YAMLError as error:
        return Unread(path=path, line=1, why=f"no YAML: {str(error).splitlines()[0]}")
    except (RecursionError, TooLargeError):
        return ()


def _marked(entries: tuple[Entry, ...], anchored: frozenset[int]) -> tuple[Entry, ...]:
    """Return entries that say of themselves that their line sets an anchor; nodes have forgotten it."""
    if not anchored:
        return entries
    return tuple(replace(entry, is_anchored=entry.line in anchored) for entry in entries)


def _entries(node: Any, budget: Iterator[int], above: tuple[int, ...]) -> Iterator[Entry]:
    """Yield the keys of a mapping node; one that holds itself is not entered again."""
    if id(node) in above:
        return
    above = (*above, id(node))
    for key, value in node.value:
        if next(budget, None) is None:
            raise TooLargeError
        if key.tag == f"{_PREFIX}merge":
            for merged in value.value if value.id == "sequence" else (value,):
                if merged.id == "mapping":
                    yield from (replace(entry, is_merged=True) for entry in _entries(merged, budget, above))
        elif key.id == "scalar":
            yield _entry(key, value, budget, above)


def _entry(key: Any, value: Any, budget: Iterator[int], above: tuple[int, ...]) -> Entry:
    tag = value.tag.removeprefix(_PREFIX)
    entry = Entry(key=str(key.value), line=key.start_mark.line + 1, tag=tag)
    if value.id == "scalar":
        # A plain scalar has no style; the C parser says "" where the other one says None.
        return replace(entry, raw=value.value, is_plain=not value.style)
    if value.id == "mapping":
        return replace(entry, tag="map", inside=tuple(_entries(value, budget, above)))
    rows = (tuple(_entries(row, budget, above)) for row in value.value if row.id == "mapping")
    return replace(entry, tag="seq", rows=tuple(rows))
