"""A record: all that is known, and known to be unknown, about one subject."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from affidavit.fact.observation import Known, State
from affidavit.fact.term import Scope, Vocabulary


class Kind(enum.Enum):
    """What a record speaks of, and with it which scopes of the vocabulary it owes."""

    RUN = "run"
    REHEARSAL = "rehearsal"
    PROJECT = "project"
    PROBE = "probe"
    PANEL = "panel"
    LOCK = "lock"
    TRACKER = "tracker"
    CACHE_ENTRY = "cache entry"
    FOREIGN = "foreign artifact"
    EXPECTATION = "expectation"

    @property
    def scopes(self) -> frozenset[Scope]:
        return frozenset({Scope.PROJECT}) if self is Kind.PROJECT else frozenset(Scope)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """The merged observations of one term: what was asked, and what is known or why it is not.

    ``ranks`` holds every rank that says the same; it is empty for terms of scope RUN and PROJECT. ``was`` is the state
    that a correction felled: readers show it, and no check reads it.
    """

    name: str
    state: State
    request: Known | None = None
    ranks: tuple[int, ...] = ()
    episode: int = 0
    step: int = 0
    was: State | None = None


@dataclass(frozen=True, kw_only=True)
class Record:
    """The facts of one subject, in the order of their names, episodes and ranks.

    ``notes`` are what a reader should be told and no term can say: a torn journal, two processes of one rank,
    a standing correction.
    """

    kind: Kind
    subject: str
    facts: tuple[Fact, ...]
    vocabulary: Vocabulary
    world: int = 1
    episodes: int = 1
    notes: tuple[str, ...] = ()

    def find(self, name: str, *, episode: int = -1) -> tuple[Fact, ...]:
        """Return the facts of one term in one episode, the last by default; RUN and PROJECT facts have no episode."""
        self.vocabulary[name]
        wanted = self.nearest(episode)
        return tuple(fact for fact in self.facts if fact.name == name and (not fact.ranks or fact.episode == wanted))

    def nearest(self, episode: int) -> int:
        """Return the episode that answers for one of another record: its equal, or the last where there are fewer."""
        return episode if 0 <= episode < self.episodes else self.episodes - 1

    def with_facts(self, facts: Iterable[Fact]) -> Record:
        return replace(self, facts=ordered(facts))


def ordered(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return facts in the one order in which records hold them."""
    return tuple(sorted(facts, key=lambda fact: (fact.name, fact.episode, fact.ranks)))


def by_name(record: Record) -> Mapping[str, tuple[Fact, ...]]:
    """Return the record's facts grouped by term, every episode and rank included."""
    groups: dict[str, tuple[Fact, ...]] = {}
    for fact in record.facts:
        groups[fact.name] = (*groups.get(fact.name, ()), fact)
    return groups
