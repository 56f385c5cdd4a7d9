"""A voice for one instrument that is fed by hand, and what it said."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from affidavit.attach.instrument import Emit, Instrument
from affidavit.fact.observation import Aspect, Known, Observation
from affidavit.fact.values import Tally
from affidavit.fact.vocabulary import load


@dataclass
class Voice:
    """What an instrument says, term by term."""

    instrument: Instrument
    said: list[Observation] = field(default_factory=list)

    def __post_init__(self) -> None:
        folder = Path(tempfile.mkdtemp())
        self.emit = Emit(
            vocabulary=load(),
            instrument=self.instrument.name,
            emits=self.instrument.emits,
            write=self.said.append,
            evidence_folder=folder / "evidence",
            tokens_folder=folder / "tokens",
        )

    def _last(self, term: str) -> Known:
        state = [seen.state for seen in self.said if seen.term == term and seen.aspect is Aspect.RESOLVED][-1]
        assert isinstance(state, Known), state
        return state

    def known(self, term: str) -> Any:
        return self._last(term).value

    def source(self, term: str) -> str:
        return self._last(term).source

    def counts(self, term: str) -> dict[str, int]:
        tally = self.known(term)
        assert isinstance(tally, Tally)
        return dict(tally.counts)
