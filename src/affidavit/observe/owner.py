"""Who answers for a file: a repository's commit, an installed distribution, the standard library, nobody.

The longest matching folder wins: a virtual environment inside a repository is not the repository's, and a
Python built inside a git checkout (pyenv) is not that checkout's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from affidavit.observe import stamp as stamps
from affidavit.observe.distribution import Site, read_site, relative
from affidavit.observe.error import ObserveError, StampError
from affidavit.observe.hub import hub_file
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.repository import Repository, is_top, read
from affidavit.observe.stamp import Stamp


class OwnerKind(Enum):
    """The closed set of owners."""

    REPOSITORY = "repository"
    DISTRIBUTION = "distribution"
    STAMP = "stamp"
    HUB = "hub"
    STDLIB = "stdlib"
    ORPHAN = "orphan"


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The owner of one file.

    `folder` is the repository's top, the site folder or the stamp's; `version` the commit or the version; `path`
    is relative to `folder`, or absolute for an orphan. `digests` are what a distribution's RECORD says of the
    bytes, nothing where it says nothing.
    """

    kind: OwnerKind
    name: str
    version: str
    folder: Path | None
    path: str
    digests: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind is OwnerKind.REPOSITORY:
            return f"{self.name}@{self.version}:{self.path}"
        if self.kind is OwnerKind.STAMP:
            return f"{self.name}@{self.version}:{self.path} (stamp)"
        if self.kind is OwnerKind.HUB:
            return f"{self.name}@{self.version}" if self.version else f"{self.name} (a folder)"
        if self.kind is OwnerKind.DISTRIBUTION:
            return f"{self.name} {self.version}".rstrip()
        return str(self.kind.value)


@dataclass(frozen=True, kw_only=True)
class _Place:
    kind: OwnerKind
    folder: Path | None


class Owners:
    """The owners of many files, each repository, stamp and site folder read once.

    Args:
        interpreter: the TRAINING environment, which need not be ours.
        commits: repository top → commit seen at launch; a top that is absent is judged at HEAD.
    Source: playbook §4.4; PEP 660: an editable install lives in its repository and is judged there.
    Blind to: modules in zip archives; files that a distribution writes outside its RECORD.
    """

    def __init__(self, interpreter: Interpreter, commits: Mapping[Path, str]) -> None:
        self._interpreter = interpreter
        self._commits = commits
        self._tops: dict[Path, Path | None] = {}
        self._places: dict[Path, _Place] = {}
        self._sites: dict[Path, Site | None] = {}
        self._targets: dict[Path, Path | None] = {}
        self._repositories: dict[Path, Repository | ObserveError] = {}
        self._stamps: dict[Path, Stamp | StampError] = {}
        self._stamped_folders: dict[Path, Path | None] = {}
        self._folders: dict[str, str] = {}

    @property
    def repositories(self) -> tuple[Repository, ...]:
        """The repositories that were needed and answered."""
        return tuple(found for found in self._repositories.values() if isinstance(found, Repository))

    @property
    def stamps(self) -> tuple[Stamp, ...]:
        """The stamps that were needed and could be read."""
        return tuple(found for found in self._stamps.values() if isinstance(found, Stamp))

    @property
    def refusals(self) -> Mapping[Path, ObserveError]:
        """The repositories and stamps that were needed and did not answer."""
        stamped = [place.folder for place in self._places.values() if place.kind is OwnerKind.STAMP]
        answers = {**self._repositories, **self._stamps}
        return {
            top: why
            for top, why in answers.items()
            if isinstance(why, ObserveError) and (top in self._stamps or not _is_around(stamped, top))
        }

    def repository(self, top: Path) -> Repository | ObserveError:
        """The repository at `top`, or why there is none to judge by."""
        if top not in self._repositories:
            try:
                self._repositories[top] = read(top, commit=self._commits.get(top, "HEAD"))
            except ObserveError as error:
                self._repositories[top] = error
        return self._repositories[top]

    def stamp(self, folder: Path) -> Stamp | StampError:
        """The stamp in `folder`, or why it is none."""
        if folder not in self._stamps:
            try:
                self._stamps[folder] = stamps.read(folder / stamps.NAME)
            except StampError as error:
                self._stamps[folder] = error
        return self._stamps[folder]

    def top(self, folder: Path) -> Path | None:
        """The repository folder around `folder`."""
        if folder not in self._tops:
            if is_top(folder):
                self._tops[folder] = folder
            else:
                self._tops[folder] = None if folder.parent == folder else self.top(folder.parent)
        return self._tops[folder]

    def real(self, path: Path) -> Path:
        """The file without symbolic links; one whose own name is installed keeps it (uv links into its cache)."""
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        placed = f"{self._folders[folder]}/{name}"
        if not os.path.islink(placed):  # noqa: PTH114  thousands of files, each asked once
            return Path(placed)
        sites = (self._site(site) for site in self._interpreter.sites if placed.startswith(f"{site}/"))
        listed = any(site is not None and site.digests(Path(placed)) for site in sites)
        return Path(placed) if listed else Path(os.path.realpath(placed))

    def owner(self, real: Path) -> Owner:
        """The owner of a file, given without symbolic links."""
        hub = hub_file(real)
        if hub is not None:
            return Owner(kind=OwnerKind.HUB, name=hub.model, version=hub.commit, folder=None, path=hub.path)
        place = self._place(real.parent)
        if place.folder is None:
            return self.target(real) or _orphan(real)
        match place.kind:
            case OwnerKind.REPOSITORY:
                found = self.repository(place.folder)
                commit = found.commit if isinstance(found, Repository) else "unknown"
                version, name = commit or "unborn", place.folder.name
            case OwnerKind.STAMP:
                stamp = self.stamp(place.folder)
                version = stamp.commit if isinstance(stamp, Stamp) else "unknown"
                name = stamp.project if isinstance(stamp, Stamp) else place.folder.name
            case OwnerKind.STDLIB:
                version, name = "", "stdlib"
            case _:
                sites = (self._site(folder) for folder in self._interpreter.sites)
                return _installed(real, sites, place.folder) or _orphan(real)
        path = relative(real, place.folder)
        return Owner(kind=place.kind, name=name, version=version, folder=place.folder, path=path)

    def target(self, real: Path) -> Owner | None:
        """The distribution that lists a file and lies in a folder of its own (``pip install --target``)."""
        folder = self._target(real.parent)
        return None if folder is None else _installed(real, (self._site(folder),), folder)

    def _place(self, folder: Path) -> _Place:
        if folder not in self._places:
            claims = self._of_the_project(folder)
            claims += [(site, OwnerKind.DISTRIBUTION) for site in self._interpreter.sites]
            claims += [(lib, OwnerKind.STDLIB) for lib in self._interpreter.stdlib]
            claims += [(self._interpreter.prefix, OwnerKind.DISTRIBUTION)]
            claims += [(self._interpreter.base_prefix, OwnerKind.DISTRIBUTION)]
            holding = [claim for claim in claims if folder.is_relative_to(claim[0])]
            longest = max(holding, key=lambda claim: len(claim[0].parts), default=(None, OwnerKind.ORPHAN))
            self._places[folder] = _Place(folder=longest[0], kind=longest[1])
        return self._places[folder]

    def _of_the_project(self, folder: Path) -> list[tuple[Path, OwnerKind]]:
        """The repository around a folder; the stamp around it where there is none, or no git that would answer."""
        top = self.top(folder)
        if top is not None and isinstance(self._repositories.get(top), Repository):
            return [(top, OwnerKind.REPOSITORY)]
        stamp = self._stamped(folder)
        if stamp is None or (top is not None and isinstance(self.repository(top), Repository)):
            return [] if top is None else [(top, OwnerKind.REPOSITORY)]
        return [(stamp, OwnerKind.STAMP)]

    def _stamped(self, folder: Path) -> Path | None:
        """The nearest folder at or above that holds a stamp."""
        if folder not in self._stamped_folders:
            above = None if folder.parent == folder else self._stamped(folder.parent)
            self._stamped_folders[folder] = folder if (folder / stamps.NAME).is_file() else above
        return self._stamped_folders[folder]

    def _target(self, folder: Path) -> Path | None:
        if folder not in self._targets:
            try:
                holds = any(name.endswith(".dist-info") for name in os.listdir(folder))  # noqa: PTH208  names are all it needs
            except OSError:
                holds = False  # closed to us, or gone: nothing in it can be looked up
            above = None if folder.parent == folder else self._target(folder.parent)
            self._targets[folder] = folder if holds else above
        return self._targets[folder]

    def _site(self, folder: Path) -> Site | None:
        if folder not in self._sites:
            try:
                self._sites[folder] = read_site(folder)
            except OSError:
                self._sites[folder] = None  # never created, or closed to us: its files read orphan
        return self._sites[folder]


def _installed(real: Path, sites: Iterable[Site | None], folder: Path) -> Owner | None:
    """The distribution whose RECORD lists the file; console scripts are listed as `../../../bin/x`."""
    for site in sites:
        found = site.owner(real) if site is not None else None
        if site is not None and found is not None:
            return Owner(
                kind=OwnerKind.DISTRIBUTION,
                name=found.name,
                version=found.version,
                folder=folder,
                path=relative(real, folder),
                digests=site.digests(real),
            )
    return None


def _is_around(folders: Iterable[Path | None], top: Path) -> bool:
    return any(folder is not None and folder.is_relative_to(top) for folder in folders)


def _orphan(real: Path) -> Owner:
    return Owner(kind=OwnerKind.ORPHAN, name="", version="", folder=None, path=os.fspath(real))
