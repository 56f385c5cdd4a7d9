"""Where a run came from: its code, its interpreter, its launcher, each attempt and each process of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from affidavit.fact.observation import Known
from affidavit.record.manifest import Attempt, Manifest
from affidavit.record.record import Record
from affidavit.report.page.said import Cell, cell, cut

_TERMS = (
    "tree.commit",
    "tree.gate",
    "tree.deviations",
    "tree.bystanders",
    "code.commit",
    "code.files_by_verdict",
    "code.deviations",
    "code.changed_on_disk",
    "code.installed_by_record",
    "code.installed_deviations",
    "house.plugins",
)
_OPEN = 8
"""More processes than this are folded."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """One attempt: what was started, when, how it ended, and its processes."""

    number: int
    command: str
    started: str
    ended: str
    status: str
    last_step: int
    processes: tuple[tuple[str, ...], ...]
    is_folded: bool


PROCESS = ("rank", "host", "process id", "last step", "its journal")


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What a page says of the origin: short facts, facts of the record, attempts."""

    facts: tuple[tuple[str, str], ...]
    cells: tuple[Cell, ...]
    starts: tuple[Start, ...]
    process: tuple[str, ...] = PROCESS


def provenance(manifest: Manifest, record: Record) -> Provenance:
    """Return the origin of a run as its manifest and its record tell it."""
    found = [cell(record, fact) for name in _TERMS if name in record.vocabulary for fact in record.find(name)]
    return Provenance(facts=tuple(_facts(manifest)), cells=tuple(found), starts=tuple(map(_start, manifest.attempts)))


def command_of(manifest: Manifest) -> str:
    """Return the command line of the last attempt."""
    return _command(manifest.attempts[-1]) if manifest.attempts else ""


def commit_of(record: Record) -> str:
    """Return the commit that the working tree stood on, or why there is none."""
    for fact in record.find("tree.commit") if "tree.commit" in record.vocabulary else ():
        if isinstance(fact.state, Known):
            return str(fact.state.value)
        if fact.was is not None:
            return "fell with a correction"
    return "unknown"


def _facts(manifest: Manifest) -> Iterator[tuple[str, str]]:
    interpreter, launcher = manifest.interpreter, manifest.launcher
    python = f"Python {interpreter.python}" if interpreter.python else ""
    yield "interpreter", ", ".join(part for part in (python, interpreter.platform, interpreter.executable) if part)
    job = f"{launcher.scheduler} job {launcher.job}" if launcher.scheduler else ""
    on = f"on {launcher.host}" if launcher.host else ""
    yield "launcher", ", ".join(part for part in (launcher.kind, job, on) if part)
    yield "recipe", manifest.recipe
    yield "record", f"{manifest.kind.value}, sealed by affidavit {manifest.affidavit}"


def _start(attempt: Attempt) -> Start:
    rows = tuple(
        (
            f"{one.rank} of {one.world}",
            one.host,
            str(one.pid),
            f"{one.last_step:,}",
            f"{one.closed or 'never closed'}{', torn' if one.torn else ''}",
        )
        for one in sorted(attempt.processes, key=lambda one: one.rank)
    )
    return Start(
        number=attempt.number + 1,
        command=_command(attempt),
        started=f"{attempt.started:%Y-%m-%d %H:%M:%S} UTC",
        ended=f"{attempt.ended:%Y-%m-%d %H:%M:%S} UTC",
        status=attempt.ending,
        last_step=attempt.last_step,
        processes=rows,
        is_folded=len(rows) > _OPEN,
    )


def _command(attempt: Attempt) -> str:
    return cut(shlex.join(attempt.command))
