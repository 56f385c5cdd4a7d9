"""Whose code a file holds: Python's own, a distribution's, or the project's; and what a distribution is by content.

First-party is what nobody installed: what lies outside the places of Python and of packages, and in those places what
no distribution claims. It is followed by what it does; a distribution stands for itself, by version and content.

Source: hf-stack-spike §5: a key that treats a module by where it lies misses the upgrade of one under site-packages.
Blind to: which parts of a distribution depend on which other distributions.
"""

from __future__ import annotations

import csv
import os
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from itertools import takewhile

from affidavit.cache.preimage import canonical, digest_of
from affidavit.fact import VERSION

STDLIB = "stdlib"
PACKAGE = "package"
FIRST = "first-party"
_SITES = ("site-packages", "dist-packages")
OURS = "affidavit"


@dataclass(frozen=True)
class Owner:
    """Whose some code is; ``top`` is the top-level module of a package, ``names`` the distributions that hold it."""

    kind: str
    top: str = ""
    names: tuple[str, ...] = ()


@lru_cache(maxsize=8192)
def owner_of(file: str, module: str) -> Owner:
    """Return the owner of code in ``file``, or, where it came from no file, of the module it is called."""
    top = module.partition(".")[0]
    if top == OURS:
        return Owner(PACKAGE, OURS, (OURS,))
    if not file or file.startswith("<frozen"):
        return Owner(STDLIB) if top in sys.stdlib_module_names or top == "builtins" else Owner(FIRST, top)
    parts = file.replace(os.sep, "/").split("/")
    site = max((place for place, part in enumerate(parts) if part in _SITES), default=None)
    if site is not None and site + 1 < len(parts):
        top = parts[site + 1].partition(".")[0]
        names = distributions_of(top)
        return Owner(PACKAGE, top, names) if names else Owner(FIRST, top)
    if os.path.isabs(file) and _is_under(file, _stdlib()):  # noqa: PTH117
        return Owner(STDLIB)
    return Owner(FIRST, top)


@lru_cache(maxsize=1)
def _stdlib() -> tuple[str, ...]:
    found = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__)}  # noqa: PTH120
    return tuple(sorted({*found, *(os.path.realpath(place) for place in found)}))


def _is_under(file: str, places: Iterable[str]) -> bool:
    return any(file.startswith(place.rstrip(os.sep) + os.sep) for place in places)


@lru_cache(maxsize=512)
def distributions_of(top: str) -> tuple[str, ...]:
    """Return the distributions that hold a top-level module, and none where nothing installed claims it."""
    try:
        found = metadata.distribution(top)
    except metadata.PackageNotFoundError:
        return tuple(sorted(set(_by_module().get(top, ()))))
    heads = (f"{top}/", f"{top}.")
    if any(path.startswith(heads) for path, _ in _record(found)):
        return (_heads(found)["Name"],)
    return tuple(sorted(set(_by_module().get(top, ()))))


@lru_cache(maxsize=1)
def _by_module() -> dict[str, list[str]]:
    """Reading every distribution costs a quarter of a second, so it is asked last and once."""
    return dict(metadata.packages_distributions())


@dataclass(frozen=True)
class Content:
    """A distribution by name, version and the digest of its list of files."""

    name: str
    version: str
    record: str


@lru_cache(maxsize=512)
def content_of(name: str) -> Content:
    """Return what a distribution is, the same wherever and by whichever installer it was put in place.

    Raises:
        PackageNotFoundError: no distribution of that name is installed.
    """
    if name == OURS:
        return Content(name, VERSION, digest_of(VERSION.encode()))
    found = metadata.distribution(name)
    heads = _heads(found)
    return Content(heads["Name"], heads["Version"], digest_of(canonical(sorted(_record(found)))))


def _heads(found: metadata.Distribution) -> dict[str, str]:
    """Return the first headers of a distribution; parsing its whole description takes longer than a hit may."""
    lines = (found.read_text("METADATA") or found.read_text("PKG-INFO") or "").splitlines()
    named = dict(line.partition(": ")[::2] for line in takewhile(bool, lines))
    return named if {"Name", "Version"} <= named.keys() else {"Name": found.metadata["Name"], "Version": found.version}


def _record(found: metadata.Distribution) -> list[tuple[str, str]]:
    """Return (path, digest) of the files a distribution put in its place: no scripts, which name the interpreter."""
    rows: list[tuple[str, str]] = []
    for path, digest, *_ in csv.reader((found.read_text("RECORD") or "").splitlines()):
        if digest and not path.startswith(("..", "/")) and ".dist-info/" not in path:
            rows.append((path, digest))
    if not rows:
        rows = [
            (path, "") for path in (found.read_text("SOURCES.txt") or found.read_text("top_level.txt") or "").split()
        ]
    return rows
