"""The file that a launcher starts, among the scripts of the project, and whether it meddles with its own options."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath

from affidavit.lint.configs.named import only
from affidavit.lint.scripts.reading import Parser
from affidavit.lint.shell.launch import Launch

_READS_ARGV = re.compile(r"len\(\s*sys\.argv\s*\)|sys\.argv\[\d+\](?!\s*=)|\(\s*(?:args\s*=\s*)?sys\.argv\[1:\]\s*[,)]")
_REST = re.compile(r"\bREMAINDER\b|nargs\s*=\s*[\"']\.\.\.[\"']")


class Scripts:
    """The scripts of a project that make a parser, by where they lie."""

    def __init__(self, parsers: Iterable[Parser], root: Path) -> None:
        self._root = root
        made: dict[Path, list[Parser]] = {}
        for parser in parsers:
            made.setdefault(parser.path, []).append(parser)
        self._parsers = {path.resolve(): tuple(found) for path, found in made.items()}

    def parsers_of(self, script: Path | None) -> tuple[Parser, ...]:
        """Return the parsers that a script makes."""
        return self._parsers.get(script, ()) if script is not None else ()

    def script_of(self, launch: Launch, launcher: Path, folder: str) -> Path | None:
        """Return the script that is started, None where no file or more than one fits.

        Args:
            launcher: the file the command stands in.
            folder: what ``cd`` was told before it.
        """
        names = _names(launch)
        above = [place for place in launcher.parents if place == self._root or self._root in place.parents]
        places = list(dict.fromkeys((self._root, launcher.parent, *above)))
        if folder and folder != "?":
            places = [*(place / folder for place in places), *places]
        found = only(place / name for place in places for name in names)
        if found is not None:
            return found
        tails = {PurePosixPath(name).parts for name in names}
        ends = {path for path in self._parsers if any(_ends_with(path, tail) for tail in tails)}
        return ends.pop() if len(ends) == 1 else None


def _names(launch: Launch) -> tuple[str, ...]:
    if not launch.is_module:
        return (launch.script.removeprefix("./"),)
    path = launch.script.replace(".", "/")
    return (f"{path}.py", f"{path}/__main__.py", f"src/{path}.py", f"src/{path}/__main__.py")


def _ends_with(path: Path, tail: tuple[str, ...]) -> bool:
    """Whether a path ends with at least two parts of another: a bare ``train.py`` fits too many."""
    tail = tuple(part for part in tail if part not in (".", ".."))
    return len(tail) > 1 and path.parts[-len(tail) :] == tail


@cache
def meddles(path: Path) -> str:
    """Return why a script may take options that its parser does not know, "" where it does not look at them.

    Blind to: a module it imports that does.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "it could not be read"
    if "sys.argv" in _READS_ARGV.sub("", text):
        return "it looks at sys.argv itself"
    return "it takes the rest of the command line as one" if _REST.search(text) else ""
