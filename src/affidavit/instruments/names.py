"""Names: what the script handed to callables that refuse none, and which of those names nobody reads."""

from __future__ import annotations

import os
from collections import Counter

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import Handed, StepEnd
from affidavit.fact.term import Method
from affidavit.fact.values import Table, Tally
from affidavit.names.answer import nearest
from affidavit.names.consumed import unread

COLUMNS = ("path", "line", "callee", "name", "near", "found")
_MOST = 30
"""Rows that are told; one is enough to fail, and a fact has its size."""


class HandedNames(Instrument):
    """Emits how many names the script handed to what swallows any, and those that nobody reads, with what was meant.

    It asks once, when the sampled step is over and whoever reads them is loaded. A name that was in its place in one
    call from a line is in its place there.

    Source: hf-stack-spike §1 ("accepted and ignored"); anchors-mechanisms C2; silent-failure-corpus D4.
    Blind to: what :mod:`affidavit.names.consumed` is blind to; calls after the sampled step; names given by position.
    """

    name = "handed names"
    emits = ("names.handed", "names.swallowed")
    budget_seconds = 4.0

    def __init__(self) -> None:
        self._heard: dict[tuple[str, int, str], list[Handed]] = {}

    @at(Handed)
    def handed(self, moment: Handed, emit: Emit) -> None:
        heard = self._heard.setdefault((moment.path, moment.line, moment.callee), [])
        if moment not in heard:
            heard.append(moment)

    @at(StepEnd, sampled=True)
    def report(self, moment: StepEnd, emit: Emit) -> None:
        counts: Counter[str] = Counter()
        suspects: dict[tuple[str, int, str], dict[str, str]] = {}
        for key, heard in self._heard.items():
            counts[key[2]] += len({name for one in heard for name in one.names})
            suspects[key] = _astray(heard)
        nobody = unread({name for names in suspects.values() for name in names})
        rows = []
        for key, names in suspects.items():
            heard = self._heard[key]
            sure = {name: meant for one in heard for name, meant in one.sure.items()}
            known = sorted({name for one in heard for name in one.known})
            for name, found in names.items():
                if name in nobody or name in sure:
                    rows.append((_short(key[0]), *key[1:], name, sure.get(name) or nearest(name, known), found))
        source = "calls of the script, once the sampled step was over"
        emit.known("names.handed", Tally.count("names", counts), source=source, method=Method.EXECUTED)
        table = Table(COLUMNS, tuple(sorted(rows)[:_MOST]))
        emit.known("names.swallowed", table, source=source, method=Method.EXECUTED)


def _astray(heard: list[Handed]) -> dict[str, str]:
    """Return the names that went astray in every call from a line, and where they lie."""
    found = [{**dict.fromkeys(one.sure, ""), **one.astray} for one in heard]
    return {name: found[0][name] for name in found[0] if all(name in one for one in found)}


def _short(path: str) -> str:
    here = os.path.relpath(path) if path else ""
    return path if here.startswith("..") else here
