"""The keys that stand in a config and that its only reader never asks for."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from affidavit.lint.configs.document import Document, last
from affidavit.lint.configs.named import only
from affidavit.lint.configs.reader import read_document
from affidavit.lint.fields.mapping import LOADERS, Loaded, loaded_mappings
from affidavit.lint.request import Field, Unread
from affidavit.names.answer import nearest

_LOADS = re.compile(rf"\b(?:yaml|json|tomllib|tomli|toml)\.(?:{'|'.join(sorted(LOADERS))})\(")
_NAMES_ONE = re.compile(r"(?:open|Path)\(\s*[\"'][^\"'\n]+\.(?:ya?ml|json|toml)[\"']")


def unread_keys(scripts: Sequence[Path], others: Sequence[Path], root: Path) -> tuple[tuple[Field, ...], int]:
    """Return the keys that nobody reads, and how many were looked at.

    Args:
        scripts: the Python files of the project.
        others: its other text files: a launcher or a config that names the file may know another reader.
        root: the folder that paths in scripts are relative to.
    Blind to: files whose name is put together; a mapping that is passed on, iterated or copied; keys of a mapping
        inside; a reader outside of the project.
    """
    texts = {path: _text(path) for path in scripts}
    candidates = [path for path, text in texts.items() if _may_load(text)]
    if not candidates:
        return (), 0
    for path in others:
        texts.setdefault(path, _text(path))
    found: list[Field] = []
    examined = 0
    for path in candidates:
        for loaded in _mappings(texts[path]):
            document = _document(loaded, path, texts, root)
            if document is not None:
                examined += len(document.names)
                found.extend(_unread(document, loaded, path))
    return tuple(found), examined


def _may_load(text: str) -> bool:
    """Whether a script loads a file that it names; the plain words are looked for first, which costs nothing."""
    if ".load" not in text and "_load(" not in text:
        return False
    return _NAMES_ONE.search(text) is not None and _LOADS.search(text) is not None


def _mappings(text: str) -> Iterator[Loaded]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return iter(())
    return loaded_mappings(tree)


def _document(loaded: Loaded, script: Path, texts: Mapping[Path, str], root: Path) -> Document | None:
    """Return the one mapping that is loaded, None where the file is not certain or somebody else knows it."""
    file = only((root / loaded.file, script.parent / loaded.file))
    if file is None:
        return None
    name = Path(loaded.file).name
    if sum(text.count(name) for path, text in texts.items() if path.resolve() != file) != 1:
        return None
    if loaded.is_module and any(_imports(text, script.stem) for path, text in texts.items() if path != script):
        return None
    read = read_document(file)
    return read[0] if not isinstance(read, Unread) and len(read) == 1 else None


def _imports(text: str, stem: str) -> bool:
    return (
        re.search(rf"^.*\bimport\b.*\b{re.escape(stem)}\b|^\s*from\s+\S*\b{re.escape(stem)}\s", text, re.M) is not None
    )


def _unread(document: Document, loaded: Loaded, script: Path) -> Iterator[Field]:
    for entry in last(document.entries):
        if entry.key in loaded.keys or entry.is_anchored or entry.is_merged or entry.key.startswith(("_", ".", "x-")):
            continue
        near = nearest(entry.key, loaded.keys)
        meant = f"; did you mean {near}?" if near else ""
        said = f"{script.name}:{loaded.line} loads this file and never asks for it{meant}"
        yield Field(path=document.path, line=entry.line, name=entry.key, kind="unread", said=said)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
