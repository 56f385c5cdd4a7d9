"""Which files of a project say names: its scripts, its configs, its launchers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from affidavit.fact.errors import AffidavitError, refusal
from affidavit.observe import git
from affidavit.observe.error import ObserveError

SCRIPTS: Final = frozenset({".py"})
CONFIGS: Final = frozenset({".yaml", ".yml", ".json", ".toml"})
DOCUMENTS: Final = frozenset({".md", ".markdown", ".rst"})
LAUNCHERS: Final = frozenset({".sh", ".bash", ".slurm", ".sbatch", ".job"})
_PASSED_OVER: Final = frozenset(
    {
        *("node_modules", "site-packages", "dist-packages", "__pycache__", "venv", "build", "dist"),
        *("wandb", "mlruns", "lightning_logs"),
    }
)
"""Folders that hold nobody's own code; those that begin with a dot are passed over as well."""
_RECIPE: Final = re.compile(r"^(?:GNU)?[Mm]akefile|\.mk$|^(?:Docker|Container)file|\.[Dd]ockerfile$|^crontab|\.cron$")
_SHOWN: Final = frozenset({".github", ".ci", ".circleci", ".husky", ".githooks", ".buildkite"})
"""Folders that begin with a dot and hold gates."""
LARGEST_BYTES: Final = 2 << 20
"""What is larger is data, or was generated."""


class LintError(AffidavitError):
    """What was named cannot be read as text at all: there is no such file or folder."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """The files that are read, by what they are; ``named`` are those that somebody asked for one by one.

    ``recipes`` hold shell text and no names of ours: Makefiles, Dockerfiles, crontabs, hooks without a suffix.
    """

    scripts: tuple[Path, ...]
    configs: tuple[Path, ...]
    launchers: tuple[Path, ...]
    recipes: tuple[Path, ...] = ()
    named: frozenset[Path] = frozenset()

    @property
    def count(self) -> int:
        return len(self.scripts) + len(self.configs) + len(self.launchers) + len(self.recipes)


def gather(paths: Iterable[Path]) -> Files:
    """Return the files under these paths: a file itself whatever its suffix, of a folder what git does not ignore.

    Raises:
        LintError: nothing lies at a path.
    Blind to: what lies in folders of environments and trackers; files of more than 2 MiB; notebooks; submodules.
    """
    named: dict[Path, bool] = {}
    for path in paths:
        if path.is_dir():
            named.update(dict.fromkeys(_below(path), False))
        elif path.exists():
            named[path] = True
        else:
            raise LintError(_missing(path))
    kinds: dict[str, list[Path]] = {"script": [], "config": [], "launcher": [], "recipe": []}
    for path, is_named in named.items():
        kind = _kind(path, is_named)
        if kind:
            kinds[kind].append(path)
    return Files(
        scripts=tuple(kinds["script"]),
        configs=tuple(kinds["config"]),
        launchers=tuple(kinds["launcher"]),
        recipes=tuple(kinds["recipe"]),
        named=frozenset(path for path, is_named in named.items() if is_named),
    )


def documents(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the documents under these paths; they say no names, so that ``gather`` leaves them out."""
    found = (below for path in paths for below in (_below(path) if path.is_dir() else (path,)))
    return tuple(path for path in dict.fromkeys(found) if path.suffix.lower() in DOCUMENTS)


def sort(paths: Iterable[Path]) -> Files:
    """Return files that somebody named, by what they are; what is none of the three is left out."""
    return gather(path for path in paths if path.is_file())


def _kind(path: Path, is_named: bool) -> str:
    suffix = path.suffix.lower()
    for kind, suffixes in (("script", SCRIPTS), ("config", CONFIGS), ("launcher", LAUNCHERS)):
        if suffix in suffixes:
            return kind if is_named or _is_small(path) else ""
    if _RECIPE.search(path.name):
        return "recipe" if is_named or _is_small(path) else ""
    if suffix:
        return ""
    kind = _by_first_line(path) if is_named or _is_small(path) else ""
    return kind if is_named else "recipe" if kind == "launcher" else ""


def _is_small(path: Path) -> bool:
    try:
        return path.stat().st_size <= LARGEST_BYTES
    except OSError:
        return False


def _by_first_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            first = file.readline(200)
    except OSError:
        return ""
    if not first.startswith(b"#!"):
        return ""
    return "script" if b"python" in first else "launcher" if b"sh" in first else ""


def _below(folder: Path) -> Iterator[Path]:
    try:
        answer = git.ask(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    except ObserveError:
        yield from _walked(folder)
        return
    for record in dict.fromkeys(answer.records):
        path = folder / record
        if not _PASSED_OVER.intersection(path.relative_to(folder).parts[:-1]) and path.is_file():
            yield path


def _walked(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if (not name.startswith(".") or name in _SHOWN)
            and name not in _PASSED_OVER
            and not Path(place, name, "pyvenv.cfg").exists()
        )
        yield from (Path(place, name) for name in sorted(names))


def _missing(path: Path) -> str:
    return refusal(
        subject="lint",
        expected="a file or a folder (command line)",
        saw=f"nothing at {path}",
        means="Nothing was read.",
        action=f'Run "ls {path.parent}".',
        unaffected="everything; nothing was written",
    )
