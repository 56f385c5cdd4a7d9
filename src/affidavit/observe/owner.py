"""Who answers for a file: a repository's commit, an installed distribution, the standard library, nobody.

The longest matching folder wins: a virtual environment inside a repository is not the repository's, and a
Python built inside a git checkout (pyenv) is not that checkout's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from affidavit.observe.distribution import Distribution, Site, read_site
from affidavit.observe.error import ObserveError
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.repository import Repository, is_top, read


class OwnerKind(Enum):
    """The closed set of owners."""

    REPOSITORY = "repository"
    DISTRIBUTION = "distribution"
    STDLIB = "stdlib"
    ORPHAN = "orphan"


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The owner of one file.

    `folder` is the repository's top or the site folder; `version` the commit or the version; `path` is
    relative to `folder`, or absolute for an orphan.
    """

    kind: OwnerKind
    name: str
    version: str
    folder: Path | None
    path: str

    def __str__(self) -> str:
        if self.kind is OwnerKind.REPOSITORY:
            return f"{self.name}@{self.version}:{self.path}"
        if self.kind is OwnerKind.DISTRIBUTION:
            return f"{self.name} {self.version}".rstrip()
        return str(self.kind.value)


@dataclass(frozen=True, kw_only=True)
class _Place:
    kind: OwnerKind
    folder: Path | None


class Owners:
    """The owners of many files, each repository and each site folder read once.

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
        self._repositories: dict[Path, Repository | ObserveError] = {}

    @property
    def repositories(self) -> tuple[Repository, ...]:
        """The repositories that were needed and answered."""
        return tuple(found for found in self._repositories.values() if isinstance(found, Repository))

    @property
    def refusals(self) -> Mapping[Path, ObserveError]:
        """The repositories that were needed and did not answer."""
        return {top: why for top, why in self._repositories.items() if isinstance(why, ObserveError)}

    def repository(self, top: Path) -> Repository | ObserveError:
        """The repository at `top`, or why there is none to judge by."""
        if top not in self._repositories:
            try:
                self._repositories[top] = read(top, commit=self._commits.get(top, "HEAD"))
            except ObserveError as error:
                self._repositories[top] = error
        return self._repositories[top]

    def top(self, folder: Path) -> Path | None:
        """The repository folder around `folder`."""
        if folder not in self._tops:
            if is_top(folder):
                self._tops[folder] = folder
            else:
                self._tops[folder] = None if folder.parent == folder else self.top(folder.parent)
        return self._tops[folder]

    def owner(self, real: Path) -> Owner:
        """The owner of a file, given without symbolic links."""
        place = self._place(real.parent)
        if place.folder is None:
            return _orphan(real)
        match place.kind:
            case OwnerKind.REPOSITORY:
                found = self.repository(place.folder)
                commit = found.commit if isinstance(found, Repository) else "unknown"
                version, name = commit or "unborn", place.folder.name
            case OwnerKind.STDLIB:
                version, name = "", "stdlib"
            case _:
                installed = self._distribution(real)
                if installed is None:
                    return _orphan(real)
                version, name = installed.version, installed.name
        path = os.path.relpath(real, place.folder)
        return Owner(kind=place.kind, name=name, version=version, folder=place.folder, path=path)

    def _place(self, folder: Path) -> _Place:
        if folder not in self._places:
            claims = [(top, OwnerKind.REPOSITORY) for top in (self.top(folder),) if top is not None]
            claims += [(site, OwnerKind.DISTRIBUTION) for site in self._interpreter.sites]
            claims += [(lib, OwnerKind.STDLIB) for lib in self._interpreter.stdlib]
            claims += [(self._interpreter.prefix, OwnerKind.DISTRIBUTION)]
            claims += [(self._interpreter.base_prefix, OwnerKind.DISTRIBUTION)]
            holding = [claim for claim in claims if folder.is_relative_to(claim[0])]
            longest = max(holding, key=lambda claim: len(claim[0].parts), default=(None, OwnerKind.ORPHAN))
            self._places[folder] = _Place(folder=longest[0], kind=longest[1])
        return self._places[folder]

    def _distribution(self, real: Path) -> Distribution | None:
        """The distribution whose RECORD lists the file; console scripts are listed as `../../../bin/x`."""
        owners = (site.owner(real) for site in map(self._site, self._interpreter.sites) if site is not None)
        return next((owner for owner in owners if owner is not None), None)

    def _site(self, folder: Path) -> Site | None:
        if folder not in self._sites:
            try:
                self._sites[folder] = read_site(folder)
            except OSError:
                self._sites[folder] = None  # never created, or closed to us: its files read orphan
        return self._sites[folder]


def _orphan(real: Path) -> Owner:
    return Owner(kind=OwnerKind.ORPHAN, name="", version="", folder=None, path=os.fspath(real))
