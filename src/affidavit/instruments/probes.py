"""Probes of cache keys that this project has kept, of functions that this process uses, held against their code now."""

from __future__ import annotations

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import StepEnd
from affidavit.fact.term import Method
from affidavit.fact.values import Table

COLUMNS = ("function", "key", "inputs", "covered", "over_keyed", "irrelevant", "unproven", "faults", "worst", "changed")
_MOST = 16


class Probes(Instrument):
    """Emits what was proven of the cache keys of functions that this process has imported.

    Source: what ``affidavit cache probe`` keeps beside the entries; the code objects that are there now.
    Blind to: functions whose key was never probed; a function that is reached now and was not when it was probed.
    """

    name = "cache probes"
    emits = ("cache.probes",)

    @at(StepEnd, sampled=True)
    def report(self, moment: StepEnd, emit: Emit) -> None:
        from affidavit.cache.store import default_folder

        folder = default_folder() / "probes"
        rows = _rows() if folder.is_dir() else []
        source = "probes that were kept beside the cache" if rows else "no probe of a function that is in use here"
        emit.known("cache.probes", Table(COLUMNS, tuple(rows[:_MOST])), source=source, method=Method.INSPECTED)


def _rows() -> list[tuple[str | int, ...]]:
    from affidavit.cache.probe.probed import COVERED, FAULT, IRRELEVANT, OVER_KEYED, UNPROVEN, kept

    found: list[tuple[str | int, ...]] = []
    for probe in kept():
        changed = probe.changed()
        if changed is None:
            continue
        counts = [len(probe.of(verdict)) for verdict in (COVERED, OVER_KEYED, IRRELEVANT, UNPROVEN, FAULT)]
        worst = ", ".join(map(str, probe.of(FAULT) or probe.of(UNPROVEN)))
        named = (probe.function[:80], probe.key[:80], len(probe.found))
        found.append((*named, *counts, worst[:160], ", ".join(changed)[:120]))
    return sorted(found, key=lambda row: (-int(row[COLUMNS.index("faults")]), -int(row[COLUMNS.index("unproven")])))
