"""Which distribution a module comes from, and a key that changes with its installed text."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_INFO = re.compile(r"^(?P<name>.+?)-(?P<version>[^-]+)(-py[\d.]+.*)?\.(dist|egg)-info$")


@dataclass(frozen=True, kw_only=True)
class Package:
    """A distribution; ``key`` is a digest of its RECORD, or of the files' sizes and times where there is no RECORD."""

    name: str
    version: str
    key: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()


@dataclass(frozen=True, kw_only=True)
class _Info:
    folder: Path
    name: str
    version: str

    @cached_property
    def record(self) -> bytes:
        for name in ("RECORD", "SOURCES.txt"):
            try:
                return (self.folder / name).read_bytes()
            except OSError:
                continue
        return b""


class Packages:
    """The distributions of some site folders, each looked at when a module of it is asked for."""

    def __init__(self, sites: Sequence[Path]) -> None:
        self.sites = tuple(sites)
        self._found: dict[str, Package] = {}

    def of(self, module: str) -> Package | None:
        """Return the distribution that a module's top level belongs to, None where no site has such a module."""
        top = module.partition(".")[0]
        if top not in self._found:
            found = self._looked_up(top)
            if found is None:
                return None
            self._found[top] = found
        return self._found[top]

    def _looked_up(self, top: str) -> Package | None:
        for site in self.sites:
            folder, file = site / top, site / f"{top}.py"
            if not folder.is_dir() and not file.is_file():
                continue
            info = self._info(top, site)
            files = f"{top}/__init__.py" if folder.is_dir() else f"{top}.py"
            if info is not None and f"{files},".encode() in info.record:
                key = hashlib.sha256(info.record).hexdigest()
            else:  # editable, or nobody's: its own files say when they change
                key = _stamp(folder if folder.is_dir() else file)
            name, version = (info.name, info.version) if info is not None else (top, "")
            return Package(name=name, version=version, key=key)
        return None

    @cached_property
    def _infos(self) -> dict[str, tuple[_Info, ...]]:
        found: dict[str, tuple[_Info, ...]] = {}
        for site in self.sites:
            for name in sorted(os.listdir(site)) if site.is_dir() else ():  # noqa: PTH208
                parts = _INFO.match(name)
                if parts is not None:
                    info = _Info(folder=site / name, name=_normal(parts["name"]), version=parts["version"])
                    found[info.name] = (*found.get(info.name, ()), info)
        return found

    def version(self, distribution: str) -> str:
        """Return the installed version of a distribution, "" where it is not there."""
        infos = self._infos.get(_normal(distribution), ())
        return infos[0].version if infos else ""

    def _info(self, top: str, site: Path) -> _Info | None:
        """The distribution that lists a module: one of its own name and site first."""
        mine = sorted(self._infos.get(_normal(top), ()), key=lambda info: info.folder.parent != site)
        listed = (f"\n{top}/__init__.py,".encode(), f"\n{top}.py,".encode())
        for info in mine:
            if any(one in b"\n" + info.record for one in listed):
                return info
        for infos in self._infos.values():
            for info in infos:
                if info not in mine and any(one in b"\n" + info.record for one in listed):
                    return info
        return mine[0] if mine else None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _stamp(path: Path) -> str:
    digest = hashlib.sha256()
    for file in _files(path):
        state = file.stat()
        digest.update(f"{file.relative_to(path)}:{state.st_size}:{state.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    yield from sorted(path.rglob("*.py")) if path.is_dir() else (path,)
