"""What observes inside of the training process is proved by a contrast: a real fault, its clean twin, and what moved.

An instrument that always says the same would pass every check that expects it. So both scripts run under the true
launcher, and an instrument is proved where a fact of its own is another one in the fault than in the twin.

Source: playbook §4.6. Blind to: whether the fact is right in both; that is for the check of that world to show.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from affidavit.fact import VERSION
from affidavit.fact.observation import Known
from affidavit.record.ledger import Instrument
from affidavit.record.record import Record
from affidavit.run.proofs.gates import PROVED
from affidavit.run.proofs.standing import OBSERVER, observer_code


@dataclass
class Contrast:
    """What was known in the scripts of one world, by term: in its faults and in their twins.

    Only the terms that its check reads count (``about``): paths and times differ between any two runs.
    """

    about: frozenset[str]
    faults: dict[str, set[str]] = field(default_factory=dict)
    twins: dict[str, set[str]] = field(default_factory=dict)

    def add(self, record: Record, *, is_fault: bool) -> None:
        side = self.faults if is_fault else self.twins
        for fact in record.facts:
            if isinstance(fact.state, Known) and fact.name in self.about:
                side.setdefault(fact.name, set()).add(repr(fact.state.value))

    @property
    def moved(self) -> frozenset[str]:
        """The terms that are known on both sides, and of which a fault has a value that no twin has."""
        both = self.faults.keys() & self.twins.keys()
        return frozenset(name for name in both if not self.faults[name] <= self.twins[name])


def proved(
    contrasts: Iterable[Contrast], emits: Mapping[str, tuple[str, ...]], as_of: datetime.date
) -> Iterator[Instrument]:
    """Yield a line of the ledger for each instrument of which a fact moved; of any other nothing was learnt."""
    moved = frozenset[str]().union(*(one.moved for one in contrasts))
    on = observer_code()
    for name, terms in sorted(emits.items()):
        own = [term for term in terms if term in moved]
        if own:
            yield Instrument(
                kind=OBSERVER,
                name=name,
                date=as_of,
                caught=1,
                total=1,
                affidavit=VERSION,
                word=PROVED,
                on=on,
                says=f"moved between a fault and its twin: {', '.join(own[:6])}{' …' if len(own) > 6 else ''}",
            )
