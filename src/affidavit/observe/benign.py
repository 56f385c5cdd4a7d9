"""What lies dirty in a repository and is no part of the run: one grey line each, by kind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath
from typing import Final

from affidavit.observe.arguments import CONFIG_SUFFIXES
from affidavit.observe.comparison import committed_bytes
from affidavit.observe.error import GitRefusedError
from affidavit.observe.notebook import has_same_source
from affidavit.observe.repository import GITLINK, Repository, StatusLine


class BenignKind(Enum):
    """Kinds in the words that the line uses."""

    DOCUMENT = "documentation"
    OUTPUT = "run output"
    TRACKER = "tracker files"
    BYTECODE = "bytecode"
    NOTEBOOK_OUTPUT = "notebook output only"
    NOTEBOOK = "notebook source"
    TEST = "test"
    CODE = "code that this run does not import"
    CONFIG = "config that this run was not given"
    SUBMODULE = "submodule"
    FOLDER = "folder"
    OTHER = "other file"


_LETTERS: Final = {"??": "untracked", "A": "added", "D": "deleted", "T": "type changed", "U": "unmerged"}
_TRACKERS: Final = frozenset(
    {"wandb", "mlruns", "runs", "lightning_logs", "tensorboard", ".aim", ".neptune", "trackio"}
)
_OUTPUTS: Final = frozenset(
    {"output", "outputs", "out", "checkpoints", "checkpoint", "results", "logs", "multirun", ".affidavit"}
)
_DOCUMENTS: Final = frozenset({".md", ".rst", ".adoc"})
_DOCUMENT_NAMES: Final = frozenset({"readme", "license", "notice", "changelog", "authors", "citation"})
_CODE: Final = frozenset({".py", ".pyi", ".pyx", ".so", ".cu", ".cpp", ".c", ".h", ".sh"})


@dataclass(frozen=True, kw_only=True)
class BenignLine:
    """One dirty path that does not run. `code` is git's two letters, `path` as the commit spells it.

    Git lists an untracked folder once; `holds_sites` says that some file in it runs and is listed apart.
    """

    path: str
    code: str
    kind: BenignKind
    holds_sites: bool = False

    def __str__(self) -> str:
        state = _LETTERS.get(self.code) or _LETTERS.get(self.code.strip()[:1], "edited")
        rest = "the rest of it is not" if self.holds_sites else "not"
        return f"{self.path}: {state}, {self.kind.value}; {rest} part of this run"


def benign_line(repository: Repository, line: StatusLine, *, holds_sites: bool) -> BenignLine:
    """The line of a path that `git status` lists and that no imported or opened file claims.

    Source: playbook §4.4; issue 2, eight benign trees.
    Blind to: a file that is read at run time without being imported or opened as config.
    """
    return BenignLine(path=line.path, code=line.code, kind=_kind(repository, line.path), holds_sites=holds_sites)


def _kind(repository: Repository, path: str) -> BenignKind:
    pure = PurePosixPath(path)
    folders = frozenset(pure.parts if path.endswith("/") else pure.parts[:-1])
    entry = repository.blobs.get(path)
    if entry is not None and entry.mode == GITLINK:
        return BenignKind.SUBMODULE
    if "__pycache__" in folders or pure.suffix == ".pyc":
        return BenignKind.BYTECODE
    if folders & _TRACKERS:
        return BenignKind.TRACKER
    if folders & _OUTPUTS:
        return BenignKind.OUTPUT
    if pure.suffix == ".ipynb":
        return BenignKind.NOTEBOOK_OUTPUT if is_output_only(repository, path) else BenignKind.NOTEBOOK
    if path.endswith("/"):
        return BenignKind.FOLDER
    if pure.suffix in _DOCUMENTS or pure.stem.lower() in _DOCUMENT_NAMES:
        return BenignKind.DOCUMENT
    if _is_test(pure):
        return BenignKind.TEST
    if pure.suffix in _CODE:
        return BenignKind.CODE
    if pure.suffix in CONFIG_SUFFIXES:
        return BenignKind.CONFIG
    return BenignKind.OTHER


def _is_test(path: PurePosixPath) -> bool:
    named = path.stem.startswith("test_") or path.stem.endswith("_test") or path.stem == "conftest"
    return named or bool({"tests", "test"} & set(path.parts))


def is_output_only(repository: Repository, path: str) -> bool:
    """A tracked notebook whose cells are the commit's: it was run, not edited."""
    if path not in repository.blobs:
        return False
    try:
        committed = committed_bytes(repository, (path,))[path]
        return has_same_source((repository.top / path).read_bytes(), committed)
    except (GitRefusedError, OSError):
        return False  # not known to be output only: it keeps the heavier name
