"""A copy of the project's tree in which a fault may be planted; the tree itself is only read.

A link that leads out of the tree is not copied: what is planted through it would be planted there. A path in the
environment that leads into the tree leads into the copy, and so does a package that is installed from the tree. Of an
environment in the tree the copy has launchers only: a sabotage reaches no installed package through it.

Blind to: a program that knows the place of the tree by itself. The tree is looked at before and after, so that this is
at least said.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from affidavit.fact.errors import AffidavitError
from affidavit.observe import git
from affidavit.observe.error import ObserveError
from affidavit.run.proofs import files

MOST_BYTES = 1 << 29
_OURS = ("AFFIDAVIT_", "GIT_")
_SAY_PATHS = """
import json, sys
held = [path for path in sys.path if path]
for name, module in list(sys.modules.items()):
    if name.startswith("__editable__"):
        held += [str(path).rpartition("/")[0] for path in getattr(module, "MAPPING", {}).values()]
print(json.dumps(held))
"""


class CopyError(AffidavitError):
    """The tree cannot be copied, so nothing can be planted in a copy."""


@dataclass(frozen=True, kw_only=True)
class Copy:
    """One copy: its folder, and the environment of a command that runs in it."""

    folder: Path
    environment: Mapping[str, str]


@contextmanager
def copied(
    root: Path, environment: Mapping[str, str], own: tuple[Path, ...] = (), covers: tuple[str, ...] = ()
) -> Iterator[Copy]:
    """Give a copy of a tree, a repository where the tree is in one; it is gone afterwards.

    Args:
        own: folders of the tree from which packages are installed (:func:`installed_from`).
        covers: patterns of files that are copied although git ignores them.

    Raises:
        CopyError: the tree is larger than a copy may be, or a file cannot be read.
    """
    names = files.held(root, covers)
    size = sum(said[0] for said in files.signature(root, names).values())
    if len(names) > files.MOST_FILES or size > MOST_BYTES:
        raise CopyError(
            f"{len(names):,} files, {size / 1e6:,.0f} MB that git does not ignore or a gate covers; "
            f"a copy may have {files.MOST_FILES:,} and {MOST_BYTES / 1e6:,.0f} MB"
        )
    with tempfile.TemporaryDirectory(prefix="affidavit-gate-", ignore_cleanup_errors=True) as place:
        folder = Path(place).resolve() / root.name
        folder.mkdir()
        for name in names:
            _copy(root, folder, name)
        _make_repository(root, folder)
        for lent in _environments(root):
            if not (folder / lent.name).exists():
                _lend(lent, folder / lent.name)
        yield Copy(folder=folder, environment=_environment(environment, root, folder, own))


def installed_from(root: Path, python: Path | None, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders of a tree from which an interpreter imports, because packages are installed from there."""
    try:
        said = subprocess.run(
            [str(python or sys.executable), "-c", _SAY_PATHS],
            cwd="/",
            env={name: value for name, value in environment.items() if name != "PYTHONPATH"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        held = [Path(str(path)) for path in json.loads(said.stdout)]
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ()
    own = (path for path in held if path.is_relative_to(root) and "site-packages" not in path.parts)
    return tuple(dict.fromkeys(own))


def _copy(root: Path, folder: Path, name: str) -> None:
    source, target = root / name, folder / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not source.is_symlink():
            shutil.copy2(source, target)
            return
        leads = source.resolve()
        if leads.is_relative_to(root.resolve()):
            inner = folder / leads.relative_to(root.resolve())
            target.symlink_to(os.path.relpath(inner, target.parent))
    except FileNotFoundError:
        return  # gone since it was listed
    except (OSError, RuntimeError) as error:
        raise CopyError(f"{name} cannot be copied: {error}") from error


def _environments(root: Path) -> tuple[Path, ...]:
    return tuple(path for path in root.iterdir() if (path / "pyvenv.cfg").is_file())


def _lend(lent: Path, folder: Path) -> None:
    """Make a folder in which each command of an environment is a launcher of the real one; git ignores it.

    An environment is not the tree's code, and too large to be copied. A link to it would let a fault be planted there.
    """
    programs = folder / "bin"
    try:
        programs.mkdir(parents=True)
        shutil.copy2(lent / "pyvenv.cfg", folder)
        (folder / ".gitignore").write_text("*\n")
        for real in (lent / "bin").iterdir():
            launcher = programs / real.name
            if not real.is_file():
                continue
            if not os.access(real, os.X_OK):  # it is sourced, and knows its place
                shutil.copy2(real, launcher)
                continue
            launcher.write_text(f'#!/bin/sh\nexec {shlex.quote(str(lent.absolute() / "bin" / real.name))} "$@"\n')
            launcher.chmod(0o755)
    except OSError as error:
        raise CopyError(f"the environment {lent.name} cannot be lent: {error}") from error


def _make_repository(root: Path, folder: Path) -> None:
    """Commit all that is there, so that a gate which asks git has an answer; without git there is none."""
    if not any((place / ".git").exists() for place in (root, *root.parents)):
        return
    who = {f"GIT_{role}_{part}": "affidavit" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    with suppress(ObserveError):
        git.ask(folder, "init", "--quiet")
        git.ask(folder, "add", "--all", "--force")
        words = ("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--allow-empty", "-m", "as it lies there")
        git.ask(folder, *words, extra=who)


def _environment(environment: Mapping[str, str], root: Path, folder: Path, own: tuple[Path, ...]) -> Mapping[str, str]:
    """Return an environment in which every path into the tree leads into the copy, and no repository is named."""

    lent = _environments(root)

    def moved(path: str) -> str:
        if not Path(path).is_absolute() or not Path(path).is_relative_to(root):
            return path
        if any(Path(path).is_relative_to(one) for one in lent):
            return path
        inner = folder / Path(path).relative_to(root)
        return str(inner) if inner.exists() else path

    found = {
        name: os.pathsep.join(map(moved, value.split(os.pathsep)))
        for name, value in environment.items()
        if not name.startswith(_OURS)
    }
    first = [moved(str(path)) for path in own]
    searched = [*first, *filter(None, [found.get("PYTHONPATH", "")])]
    if searched:
        found["PYTHONPATH"] = os.pathsep.join(searched)
    return {**found, "PYTHONDONTWRITEBYTECODE": "1"}
