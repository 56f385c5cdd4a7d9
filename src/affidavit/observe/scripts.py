"""The first-party files that a script would import, found before anything is started.

Waiting for the run to say what it imported costs the minutes in which the model loads; a dirty file should
be refused before that. So the import statements are followed statically, and what cannot be followed is
listed: it is not clean, it is not seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.observe.error import TargetMissingError
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.module_scan import scan


@dataclass(frozen=True, kw_only=True)
class FirstPartyFile:
    """A file that would run, its module name, and why: `script`, `train.py:3`, `package of a.b`."""

    path: Path
    module: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A place that could not be followed, and the reason or expression (line 0: the whole file)."""

    path: Path
    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Closure:
    """First-party files in the order they were found, and everything that limits that list."""

    files: tuple[FirstPartyFile, ...]
    dynamic: tuple[Spot, ...]
    not_scanned: tuple[Spot, ...]


def script_closure(script: Path, roots: Sequence[Path], interpreter: Interpreter) -> Closure:
    """The import closure of `python script`; a folder is run through its `__main__.py`.

    Raises:
        TargetMissingError: there is no such script.
    Source: playbook §4.4; the import system of the Python reference.
    Blind to: scripts started with subprocess, dynamic imports (listed), entries appended to `sys.path`
        (listed), import hooks, modules in zip archives.
    """
    path = script / "__main__.py" if script.is_dir() else script
    if not path.is_file():
        raise TargetMissingError(
            f"script.path: expected a Python script (command line), saw no file at {path}.\n"
            f'This means nothing can be said about the code that would run. Run "ls {path.parent}".\n'
            f"Not affected: the state of the repository."
        )
    walk = _Walk(roots, interpreter)
    walk.add(FirstPartyFile(path=path, module="__main__", reason="script"))
    return walk.finish()


def module_closure(module: str, roots: Sequence[Path], interpreter: Interpreter) -> Closure:
    """The import closure of `python -m module`; a module outside the roots is `not_scanned`, never empty.

    Source: playbook §4.4; runpy runs a package through its `__main__`.
    Blind to: as `script_closure`.
    """
    walk = _Walk(roots, interpreter)
    walk.follow(module, "script")
    walk.follow(f"{module}.__main__", "script")
    if not walk.files:
        text = "not under the search roots: installed, or missing"
        walk.not_scanned.append(Spot(path=Path(module), line=0, text=text))
    return walk.finish()


class _Walk:
    """A breadth-first walk over import statements; every folder is listed once."""

    def __init__(self, roots: Sequence[Path], interpreter: Interpreter) -> None:
        self.roots = tuple(roots)
        self.sites = interpreter.sites
        self.files: dict[Path, FirstPartyFile] = {}
        self.dynamic: list[Spot] = []
        self.not_scanned: list[Spot] = []
        self._queue: deque[FirstPartyFile] = deque()
        self._listings: dict[Path, frozenset[str]] = {}
        self._followed: set[str] = set()

    def finish(self) -> Closure:
        while self._queue:
            self._scan(self._queue.popleft())
        return Closure(
            files=tuple(self.files.values()), dynamic=tuple(self.dynamic), not_scanned=tuple(self.not_scanned)
        )

    def add(self, file: FirstPartyFile) -> None:
        if file.path not in self.files:
            self.files[file.path] = file
            self._queue.append(file)

    def follow(self, module: str, reason: str) -> None:
        """Add every file that importing `module` would run: its packages' `__init__`, then itself."""
        if module in self._followed:
            return
        self._followed.add(module)
        folders: Sequence[Path] = self.roots
        parts = module.split(".")
        for depth, part in enumerate(parts, start=1):
            file, folders = self._step(part, folders)
            name = ".".join(parts[:depth])
            if file is not None:
                why = reason if depth == len(parts) else f"package of {module}"
                self.add(FirstPartyFile(path=file, module=name, reason=why))
            elif not folders:
                return

    def _step(self, part: str, folders: Sequence[Path]) -> tuple[Path | None, tuple[Path, ...]]:
        """The file of one name component, and the folders in which the next one is looked for."""
        portions: list[Path] = []
        for folder in folders:
            names = self._names(folder)
            if part in names and "__init__.py" in self._names(folder / part):
                return folder / part / "__init__.py", (folder / part,)
            built = sorted(name for name in names if name.startswith(f"{part}.") and name.endswith(".so"))
            for file in (*built, f"{part}.py"):
                if file in names:
                    return folder / file, ()
            if part in names and (folder / part).is_dir():
                portions.append(folder / part)
        return None, tuple(portions)

    def _names(self, folder: Path) -> frozenset[str]:
        if folder not in self._listings:
            try:
                self._listings[folder] = frozenset(entry.name for entry in folder.iterdir())
            except OSError:
                self._listings[folder] = frozenset()  # Python skips an entry it cannot list, too
        return self._listings[folder]

    def _scan(self, file: FirstPartyFile) -> None:
        if file.path.suffix == ".so" or any(file.path.is_relative_to(site) for site in self.sites):
            return
        is_package = file.path.name == "__init__.py"
        package = file.module if is_package else file.module.rpartition(".")[0]
        try:
            found = scan(file.path.read_bytes(), package=package)
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            line = error.lineno or 0 if isinstance(error, SyntaxError) else 0
            self.not_scanned.append(Spot(path=file.path, line=line, text=f"{type(error).__name__}: {error}"))
            return
        self.dynamic += [Spot(path=file.path, line=spot.line, text=spot.expression) for spot in found.dynamic]
        for wanted in found.wanted:
            self.follow(wanted.name, f"{file.path.name}:{wanted.line}")
