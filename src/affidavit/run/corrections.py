"""Corrections of other runs that touch this one: of what it was built on, or of what it is locked to.

Source: playbook §4.8. Blind to: runs that are no longer there; what was copied from them by hand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from affidavit.case import Case
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError
from affidavit.record import chain, seal
from affidavit.record.annotation import by_subject
from affidavit.record.runs import runs
from affidavit.run.gathered import gather

_BUILT_ON = ("built", "rehearsal")


@dataclass(frozen=True, kw_only=True)
class Felled:
    """What of another run nobody may use any longer: ``attention.* of run X``, and since when and why."""

    name: str
    said: str


def touching(folder: Path, root: Path, case: Case) -> tuple[Felled, ...]:
    """Return the corrections of sealed runs that a run builds on, or to whose recipe and terms it is locked."""
    with contextlib.suppress(AffidavitError, OSError):
        recipe = _recipe(folder)
        built_on = {case.records[role].subject for role in _BUILT_ON if case.offers(role)}
        locked = {fact.name for fact in case.records["lock"].facts} if case.offers("lock") else set[str]()
        return tuple(_touching(folder, root, recipe, built_on, locked))
    return ()


def _touching(folder: Path, root: Path, recipe: str, built_on: Set[str], locked: Set[str]) -> Iterator[Felled]:
    for run in runs(root):
        if run.folder == folder or not (run.folder / names.ANNOTATIONS).exists():
            continue
        with contextlib.suppress(AffidavitError, OSError):  # a broken chain is told by whoever opens that run
            sealed = seal.read_sealed(run.folder).manifest
            present = {fact.name for fact in sealed.facts}
            for one in chain.read(run.folder):
                falls = [name for name in one.falls if run.id in built_on or name in locked]
                if falls and (run.id in built_on or sealed.recipe == recipe):
                    what = ", ".join(by_subject(one.falls, present))
                    said = f"fell on {one.time.date().isoformat()}: {one.reason} ({one.author})"
                    yield Felled(name=f"{what} of run {run.id}", said=said)


def _recipe(folder: Path) -> str:
    if seal.is_sealed(folder):
        return seal.read_sealed(folder).manifest.recipe
    told = gather(folder).told
    return told[-1].start.recipe if told else ""
