"""What a rehearsal, once it is sealed, says beside its record: what it was kept from, and what it cannot vouch for.

The inside half ends every rank after optimizer step N and keeps the script from changing what existed before
(:mod:`affidavit.attach.veto`). The plan itself (steps, schedule, data) is the script's own, so what resolves resolves
as in the real run, but for what depends on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from affidavit.attach.veto import VETOES
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.record.record import Record


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """``vetoed`` is what the script tried to change, a line each; ``seat_bound`` the terms judged again in the run."""

    vetoed: tuple[str, ...]
    seat_bound: tuple[str, ...]


def rehearsed(folder: Path, record: Record) -> Rehearsal:
    """Return what a rehearsal was kept from, and which of its known facts depend on the machine.

    Blind to: what the veto is blind to: native writers without an audit event, other hosts, hubs and buckets.
    """
    try:
        lines = (folder / VETOES).read_text(errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    known = {fact.name for fact in record.facts if isinstance(fact.state, Known)}
    bound = sorted(name for name in known if record.vocabulary[name].seat)
    return Rehearsal(vetoed=tuple(dict.fromkeys(lines)), seat_bound=tuple(bound))


def on_another_seat(record: Record, *, host: str, here: str) -> Record:
    """Return a rehearsal's record as a run on another machine may hold it against itself."""
    if host == here:
        return record
    why = f"rehearsed on {host}, run on {here}"
    return record.with_facts(
        replace(fact, state=Unknown(Cause.OTHER_SEAT, why)) if record.vocabulary[fact.name].seat else fact
        for fact in record.facts
    )
