"""One file that ran: whose it is, and whether its owner's record describes its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from affidavit.observe.owner import Owner
from affidavit.observe.verdict import FileVerdict


@dataclass(frozen=True, kw_only=True)
class LoadedFile:
    """A module that was executed or a config that was opened; `sha256` is of the bytes seen then, if seen.

    `seen` is what is known of a file that nobody hashed then: its size and its time of change, in ns; or "".
    """

    path: Path
    sha256: str | None = None
    seen: str = ""


@dataclass(frozen=True, kw_only=True)
class FileIdentity:
    """One file's owner and verdict.

    `sha256` is of the bytes on disk now (None where they need not be read), `is_rewritten` says that an installed file
    is not the one that was loaded, `witness` the letters of `git status` ("" when it is silent, None when nobody was
    asked), `detail` what a reader needs beside the verdict.
    """

    path: Path
    real: Path
    owner: Owner
    verdict: FileVerdict
    sha256: str | None
    loaded_sha256: str | None
    is_rewritten: bool = False
    witness: str | None = None
    detail: str = ""

    @property
    def has_changed(self) -> bool:
        """The bytes on disk are others than those that were loaded; what ran is judged by the latter."""
        return self.is_rewritten or (self.loaded_sha256 is not None and self.loaded_sha256 != self.sha256)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A repository, or a stamp, that did not answer, and its message."""

    top: Path
    why: str
    is_git_missing: bool
    is_stamp: bool = False
