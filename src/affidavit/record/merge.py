"""Journals become one record: what was asked, what it became, and what nobody saw, on every rank.

A merge that invents, or lets silence stand for agreement, is the request recorded in place of the result (landmine
4.3). So a promise that was not kept is Unknown with its cause, and a rank that left no journal is simply not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from affidavit.fact.journal import Reading
from affidavit.fact.observation import Aspect, Cause, Known, Observation, State, Unknown
from affidavit.fact.term import Method, Scope, Vocabulary
from affidavit.record import ranks as rank_set
from affidavit.record.record import Fact, Kind, Record, ordered

NOTHING_ATTACHED = Unknown(Cause.NOTHING_ATTACHED, "no process of this run was seen")


@dataclass(frozen=True, order=True)
class _Key:
    """A fact's place; rank -1 stands for the run as a whole."""

    term: str
    episode: int
    rank: int


_RANKS = _Key("run.ranks", 0, -1)


@dataclass(frozen=True)
class _Said:
    """What one process, one attempt or the whole run says at a key."""

    state: State | None = None
    request: Known | None = None
    step: int = 0

    def then(self, later: _Said) -> _Said:
        """Return what stands after ``later`` spoke: only where it spoke does it replace."""
        return _Said(
            state=self.state if later.state is None else later.state,
            request=self.request if later.request is None else later.request,
            step=self.step if later.state is None else later.step,
        )


_Sayings = dict[_Key, _Said]


def merge(
    readings: Sequence[Reading],
    *,
    kind: Kind,
    subject: str,
    vocabulary: Vocabulary,
    notes: Iterable[str] = (),
    steps: Mapping[str, int] | None = None,
    silence: Unknown = NOTHING_ATTACHED,
) -> Record:
    """Return the record that the journals of a run make together, in whichever order they are given.

    Within an episode of one process the last word wins. A later attempt replaces an earlier one of the same rank and
    episode only where it speaks. Two processes that claim one rank in one attempt are noted, and a term on which they
    disagree is Unknown. Facts that are equal on several ranks are one fact with a rank set.

    Args:
        notes: what the caller wants readers to be told; the journals' own notes follow.
        steps: the last step of a process by its heartbeat, where the journal alone does not show it.
        silence: why nothing is known, where there is no journal at all.

    Blind to: a process that attached and never trained; it opens no journal. How many ranks were started is known by
    the word of those that trained.
    """
    held = _distinct(readings)
    said, doubled = _over_attempts(held, vocabulary)
    _keep_promises(said, held, vocabulary, steps or {})
    width = max([1, *(reading.world for reading in held), *(key.rank + 1 for key in said)])
    if not held and Scope.RANK in kind.scopes:
        owed = [term.name for term in vocabulary if term.scope is Scope.RANK]
        said = {_Key(name, 0, rank): _Said(state=silence) for name in owed for rank in range(width)}
        said[_RANKS] = _Said(state=silence)
    elif held and Scope.RUN in kind.scopes:
        ranks = Known(width, Method.INSPECTED, "the process group of each rank")
        said[_RANKS] = _Said(state=ranks)
    return Record(
        kind=kind,
        subject=subject,
        facts=_facts(said),
        vocabulary=vocabulary,
        world=width,
        episodes=1 + max([0, *(key.episode for key in said), *(n.number for r in held for n in r.episodes)]),
        notes=(*notes, *doubled, *_notes(held, vocabulary)),
    )


def _distinct(readings: Iterable[Reading]) -> list[Reading]:
    """Return the readings in one order, and of two copies of one journal (spool, run folder) the longer."""
    longest: dict[tuple[int, str], Reading] = {}
    for reading in sorted(readings, key=lambda reading: (len(reading.observations), bool(reading.closed))):
        longest[reading.attempt, reading.process] = reading
    return sorted(longest.values(), key=lambda reading: (reading.generation, reading.rank, reading.process))


def _over_attempts(held: Sequence[Reading], vocabulary: Vocabulary) -> tuple[_Sayings, tuple[str, ...]]:
    """Return what stands after the last attempt, and a note for each rank that two processes claim at once.

    An elastic launcher restarts its workers inside one attempt; those of a later restart replace the earlier ones.
    """
    total: _Sayings = {}
    doubled: list[str] = []
    for generation in dict.fromkeys(reading.generation for reading in held):
        within: dict[_Key, list[_Said]] = {}
        present = [reading for reading in held if reading.generation == generation]
        for reading in present:
            for key, saying in _of_process(reading, vocabulary).items():
                within.setdefault(key, []).append(saying)
        bound = [reading for reading in present if reading.bound]
        for rank in dict.fromkeys(reading.rank for reading in bound):
            claimers = [reading.process for reading in bound if reading.rank == rank]
            if len(claimers) > 1:
                doubled.append(f"attempt {generation[0]}: {' and '.join(claimers)} both say that they are rank {rank}")
        for key, sayings in within.items():
            total[key] = total.get(key, _Said()).then(_reconciled(key, sayings))
    return total, tuple(doubled)


def _of_process(reading: Reading, vocabulary: Vocabulary) -> _Sayings:
    said: _Sayings = {}
    for seen in reading.observations:
        if _stranger(seen, vocabulary):
            continue
        ranked = vocabulary[seen.term].scope is Scope.RANK
        rank = reading.rank if seen.rank is None else seen.rank
        key = _Key(seen.term, seen.episode if ranked else 0, rank if ranked else -1)
        if seen.aspect is Aspect.RESOLVED:
            word = _Said(state=seen.state, step=seen.step)
        else:
            word = _Said(request=seen.state if isinstance(seen.state, Known) else None)
        said[key] = said.get(key, _Said()).then(word)
    return said


def _stranger(seen: Observation, vocabulary: Vocabulary) -> str:
    """Say why an observation cannot become a fact here, or "" where it can."""
    if seen.term not in vocabulary:
        return f"{seen.term}: observed, and no vocabulary that is loaded here has such a term"
    if isinstance(seen.state, Known) and not vocabulary[seen.term].admits(seen.state.value):
        return f"{seen.term}: observed as {type(seen.state.value).__name__}, which the term is not"
    return ""


def _reconciled(key: _Key, sayings: Sequence[_Said]) -> _Said:
    """Return what several processes of one attempt say at one key; where two know different things, nobody knows."""
    states = tuple(dict.fromkeys(saying.state for saying in sayings if saying.state is not None))
    requests = [saying.request for saying in sayings if saying.request is not None]
    known = [state for state in states if isinstance(state, Known)]
    request = requests[-1] if requests else None
    step = max(saying.step for saying in sayings)
    if len({repr(state.value) for state in known}) > 1:
        whose = f"rank {key.rank}" if key.rank >= 0 else "the run"
        why = f"{len(known)} processes speak for {whose} and say different things"
        return _Said(Unknown(Cause.RANK_CLAIMED_TWICE, why), request, step)
    best = max(known, key=lambda state: (state.method, state.source)) if known else None
    return _Said(best or (states[-1] if states else None), request, step)


def _keep_promises(said: _Sayings, held: Sequence[Reading], vocabulary: Vocabulary, steps: Mapping[str, int]) -> None:
    """Put an Unknown wherever a process promised an answer and none came, and where a request has no result."""
    for reading in reversed(held):  # the last attempt knows best why nothing came
        episodes = {episode.number for episode in reading.episodes} or {seen.episode for seen in reading.observations}
        missing = _why_missing(reading, steps)
        for name in reading.emits if reading.bound else ():
            if name in vocabulary and vocabulary[name].scope is Scope.RANK:
                for episode in episodes or {0}:
                    key = _Key(name, episode, reading.rank)
                    if said.get(key, _Said()).state is None:
                        said[key] = replace(said.get(key, _Said()), state=missing)
    for key, saying in said.items():
        if saying.state is None:
            said[key] = replace(saying, state=Unknown(Cause.ABSENT, "asked for, and nothing saw what became of it"))


def _why_missing(reading: Reading, steps: Mapping[str, int]) -> Unknown:
    last = max([reading.live_step, steps.get(reading.process, 0), *(seen.step for seen in reading.observations)])
    if reading.lost:
        return Unknown(Cause.JOURNAL_LOST, f"{reading.lost}, at step {last}")
    if reading.live_step:
        return Unknown(Cause.ABSENT, f"its instrument said nothing by the end of step {reading.live_step}")
    return Unknown(Cause.NOT_REACHED, f"the process ended at step {last}")


def _facts(said: _Sayings) -> tuple[Fact, ...]:
    groups: dict[tuple[str, int, str], list[_Key]] = {}
    for key in sorted(said):
        groups.setdefault((key.term, key.episode, repr(said[key])), []).append(key)
    facts = []
    for (term, episode, _), keys in groups.items():
        saying = said[keys[0]]
        state = saying.state
        if state is not None:
            ranks = tuple(key.rank for key in keys if key.rank >= 0)
            facts.append(
                Fact(name=term, state=state, request=saying.request, ranks=ranks, episode=episode, step=saying.step)
            )
    return ordered(facts)


def _notes(held: Sequence[Reading], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the journals' notes, each once with the ranks that wrote it."""
    ranks: dict[str, list[int]] = {}
    for reading in held:
        own = list(reading.notes)
        own += [why for seen in reading.observations if (why := _stranger(seen, vocabulary))]
        own += [] if reading.bound else ["a process ended before it knew its rank"]
        own += ["the journal ends in the middle of a line"] if reading.torn else []
        for text in own:
            ranks.setdefault(text, []).extend([reading.rank] if reading.bound else [])
    return tuple(f"{text} (rank {rank_set.written(found)})" if found else text for text, found in ranks.items())
