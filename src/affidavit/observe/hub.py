"""Code that came with a model or a metric: what a loader copied into its modules cache, and from where.

The file that runs is a copy of a copy. Its path names the repository and the commit where ``trust_remote_code`` got it
from the hub, and neither where it came from a folder; there the folder has to be found, and its file is what a commit
may hold. The loaders of metrics and of datasets write down beside the copy what it was made from.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from affidavit.observe.digest import blob_id

MODULES: Final = "transformers_modules"
NOTED: Final = ("evaluate_modules", "datasets_modules")
"""Caches whose loaders leave a note: ``<cache>/metrics/<name>/<digest of the content>/<name>.py`` and ``.json``."""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_LOCAL: Final = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, kw_only=True)
class HubFile:
    """A file of the modules cache: the model it came with, that model's commit ("" for a folder), and its own path.

    ``folder`` is the model's name as the cache spells it; ``noted`` is where a loader that leaves notes had it from.
    """

    model: str
    folder: str
    commit: str
    path: str
    noted: str = ""


def hub_file(path: Path) -> HubFile | None:
    """What the path of a file in the modules cache says, or None for a file elsewhere.

    Source: transformers' ``dynamic_module_utils`` 4.57 (a folder's name, no hash) and 5.24 (name and hash); evaluate
        0.4 and datasets 3 ``loading``.
    Blind to: a repository whose name holds ``_dot_`` or ``_hyphen_`` itself, which is shown with a dot or a hyphen.
    """
    shown = str(path)  # asked of every file that ran
    if "_modules" in shown and any(cache in path.parts[:-1] for cache in NOTED):
        return _noted(path)
    if MODULES not in shown:
        return None
    parts = path.parts
    if MODULES not in parts[:-1]:
        return None
    inner = parts[len(parts) - parts[::-1].index(MODULES) :]
    for place in (1, 2):  # "gpt2" has no owner
        if len(inner) > place + 1 and _COMMIT.fullmatch(inner[place]):
            model = "/".join(map(_plain, inner[:place]))
            after = place + 1
            return HubFile(model=model, folder=inner[0], commit=inner[place], path="/".join(inner[after:]))
    after = 2 if len(inner) > 2 and _LOCAL.fullmatch(inner[1]) else 1
    name = inner[0] if len(inner) > 1 else ""
    return HubFile(model=_plain(name), folder=name, commit="", path="/".join(inner[after:] or inner))


def _noted(path: Path) -> HubFile:
    """What the path of a copy and the note beside it say; a file that only makes a folder a package has none."""
    name = path.parts[-3]
    try:
        noted = str(json.loads(path.with_suffix(".json").read_text("utf-8"))["original file path"])
    except (OSError, ValueError, KeyError, TypeError):
        noted = ""
    return HubFile(model=name, folder=name, commit="", path=path.name, noted=noted)


def _spelt(name: str) -> str:
    """A folder's name as a module's: transformers' own rule."""
    shown = name.replace(".", "_dot_").replace("-", "_hyphen_")
    return f"_{shown}" if shown[:1].isdigit() else shown


def _plain(name: str) -> str:
    shown = name.replace("_dot_", ".").replace("_hyphen_", "-")
    return shown[1:] if re.match(r"_\d", shown) else shown


def origin(file: HubFile, beside: Sequence[Path]) -> Path | None:
    """The file that the copy was made from: what a note says, or the one of that name in the model's folder; or None.

    Args:
        beside: folders of configs that the run opened; a model's config lies beside its code.
    Source: ``get_cached_module_file`` copies from the folder that it was given, or from the hub's cache.
    Blind to: a model whose config was read from another folder than its code.
    """
    if file.noted:  # a path that is relative was so to a folder that nobody remembers
        return Path(file.noted) if Path(file.noted).is_absolute() and Path(file.noted).is_file() else None
    for folder in beside:
        named = f"snapshots/{file.commit}" in folder.as_posix() if file.commit else _spelt(folder.name) == file.folder
        if named and (folder / file.path).is_file():
            return folder / file.path
    return None


def downloaded_from(path: Path, content: bytes) -> str:
    """The commit of the hub's repository that holds these bytes under this name, as its download wrote it down; or "".

    Source: the cache of huggingface_hub names a blob by git's own id (sha256 for large files); a download into a
        folder leaves commit and id in ``.cache/huggingface/download``.
    Blind to: a cache that was edited together with the names in it.
    """
    names = (blob_id(content, "sha1"), hashlib.sha256(content).hexdigest())
    commit = re.search(r"/snapshots/([0-9a-f]{40})/", path.as_posix())
    if commit:
        held = Path(os.path.realpath(path))
        is_named = held.name in names if path.is_symlink() else held.read_bytes() == content
        return commit[1] if is_named else ""
    for folder in path.parents:
        told = folder / ".cache/huggingface/download" / f"{path.relative_to(folder)}.metadata"
        if told.is_file():
            said = told.read_text("utf-8", "replace").split()
            return said[0] if len(said) > 1 and said[1].strip('"') in names and _COMMIT.fullmatch(said[0]) else ""
    return ""
