"""The project in which a verb was called: its folder, its settings, its words and its checks."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from affidavit.check.rule import Check
from affidavit.cli import page
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.term import Vocabulary
from affidavit.record import annotated, ledger, runs
from affidavit.record.ledger import Ledger
from affidavit.record.runs import RunFolder, RunNotFoundError
from affidavit.run import attesting
from affidavit.run.annotating import content_of, spoken_of
from affidavit.run.attesting import Notary
from affidavit.run.plugins import House, load_house
from affidavit.run.tracker.tag import Tracker
from affidavit.settings import Settings, find_root
from affidavit.settings import load as load_settings


def runs_folder(root: Path | None = None) -> Path:
    """Return the folder that holds the run folders of a project, the one around the working directory by default."""
    return runs.home(root or find_root(Path.cwd())) / "runs"


def today() -> datetime.date:
    """Return the date as of which everything is judged; nothing below the command line asks a clock."""
    return datetime.datetime.now(datetime.UTC).date()


@dataclass(frozen=True, kw_only=True)
class Project:
    """A project as it lies on disk, each part read when it is first asked for."""

    root: Path

    @cached_property
    def house(self) -> House:
        return load_house(self.root)

    @property
    def vocabulary(self) -> Vocabulary:
        return self.house.vocabulary

    @property
    def checks(self) -> tuple[Check, ...]:
        return self.house.checks

    @cached_property
    def settings(self) -> Settings:
        return load_settings(self.root, self.vocabulary)

    @property
    def ledger_path(self) -> Path:
        return self.root / names.LEDGER

    @property
    def lock_path(self) -> Path:
        return self.root / names.LOCK

    @property
    def notary(self) -> Notary:
        settings = self.settings
        tracker = Tracker(root=self.root, uri=settings.tracking_uri) if settings.tracker != "none" else None
        return Notary(
            root=self.root,
            key=settings.key,
            trusted=settings.trusted,
            revoked=settings.revoked,
            witness=settings.witness,
            tracker=tracker,
        )

    def attest(self, folder: Path, doubt: str = "") -> None:
        """Let a seal that was made just now be signed and remembered, as the settings say; what cannot be is told.

        A folder elsewhere, a drill's or somebody else's, is not this project's to vouch for.
        """
        is_ours = folder.parent.resolve() == runs_folder(self.root).resolve()
        if is_ours and os.environ.get(attesting.VARIABLE) != attesting.OFF:
            page.tell(self._told(lambda notary: notary.sealed(folder, doubt=doubt)))

    def attest_correction(self, folder: Path) -> None:
        """Let the head of a run that was corrected just now be signed and remembered, as :meth:`attest`."""
        page.tell(self._told(lambda notary: notary.corrected(folder)))

    def _told(self, asked: Callable[[Notary], tuple[str, ...]]) -> tuple[str, ...]:
        try:
            return asked(self.notary)
        except AffidavitError as error:  # settings that nothing heeds must not keep a run from being sealed
            return (f"unsigned: {str(error).partition(chr(10))[0]}",)

    def ledger(self) -> Ledger:
        return ledger.read(self.ledger_path)

    def runs(self) -> tuple[RunFolder, ...]:
        return runs.runs(self.root)

    def find(self, run: str) -> RunFolder:
        """Return the run that a person named, or what was said of the file that they named.

        Raises:
            RunNotFoundError: none or several.
            ArtifactError, SealError: what was said of that file is not what was sealed.
        """
        try:
            found = runs.find(self.root, run)
            if annotated.is_chain(found.folder):
                annotated.refuse_another(found.folder)
            return found
        except RunNotFoundError:
            path = Path(run)
            is_there = bool(run) and path.exists()
            folder = annotated.chain_of(path, self.root, content_of(path)) if is_there else None
            edited = spoken_of(path, self.root) if is_there and folder is None else ()
            if edited:
                raise RunNotFoundError(_edited(path, edited, self.root)) from None
            if folder is None:
                raise
            return RunFolder(id=folder.name, folder=folder, started_ns=folder.stat().st_mtime_ns)


def here() -> Project:
    """Return the project around the working directory."""
    return Project(root=find_root(Path.cwd()))


def _edited(path: Path, chains: tuple[Path, ...], root: Path) -> str:
    return refusal(
        subject=str(path),
        expected="the text that was corrected (its banners)",
        saw="another; it was edited since",
        means="Its corrections were said of the text before, and none of this one.",
        action=" ".join(f'Run "affidavit show {os.path.relpath(chain)}".' for chain in chains),
        unaffected="what was said of it, and the banners",
    )
