"""A case: all that a judgement may look at.

A check reads a case and nothing else: no clock, no file, no environment. What stands in it is the folded record of
one subject, related records under roles, one episode, and the date as of which is judged.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Known
from affidavit.fact.term import Method, Scope, Term, Vocabulary
from affidavit.fact.values import Value, another
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.record.compare import Difference, differ
from affidavit.record.record import Fact, Kind, Record, ordered

SUBJECT = "run"
"""The role of the record that is judged; the other roles name what it is held against."""
ROLES = ("lock", "expected", "panel", "rehearsal", "parent", "tracker", "built")


class InertSabotageError(AffidavitError):
    """A sabotage changes nothing, or changes a value into another type: it could never be caught or never happen."""


@dataclass(frozen=True)
class Need:
    """A term under a role, as a check names it: ``attention.executed``, ``panel/attention.executed`` or ``lock/*``."""

    role: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Need:
        role, slash, name = text.rpartition("/")
        if slash and role not in ROLES:
            raise AffidavitError(f'need "{text}": expected one of the roles {", ".join(ROLES)}, saw "{role}".')
        return cls(role or SUBJECT, name)

    def __str__(self) -> str:
        return self.name if self.role == SUBJECT else f"{self.role}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class Case:
    """The records a judgement looks at, by role, at one episode of the subject and one date."""

    records: Mapping[str, Record]
    as_of: datetime.date
    episode: int = 0

    @property
    def subject(self) -> Record:
        return self.records[SUBJECT]

    @property
    def vocabulary(self) -> Vocabulary:
        return self.subject.vocabulary

    def term(self, need: str) -> Term:
        return self.vocabulary[Need.parse(need).name]

    def offers(self, role: str) -> bool:
        return role in self.records

    def facts(self, need: str) -> tuple[Fact, ...]:
        """Return the facts that answer a need, one for each set of ranks that say the same."""
        wanted = Need.parse(need)
        record = self.records.get(wanted.role)
        if record is None:
            return ()
        return record.find(wanted.name, episode=self.episode)

    # What a check's body reads. The engine has already answered UNKNOWN where a needed fact is not known.

    def values(self, need: str) -> tuple[tuple[tuple[int, ...], Value], ...]:
        """Return ``(ranks, value)`` for each set of ranks that say the same, wherever each of them read it."""
        said: dict[str, tuple[tuple[int, ...], Value]] = {}
        for fact in self.facts(need):
            if isinstance(fact.state, Known):
                ranks, _ = said.get(repr(fact.state.value), ((), None))
                said[repr(fact.state.value)] = (tuple(sorted({*ranks, *fact.ranks})), fact.state.value)
        return tuple(said.values())

    def by_rank(self, *needs: str) -> tuple[tuple[tuple[int, ...], tuple[Value, ...]], ...]:
        """Return ``(ranks, values of these needs)`` for each set of ranks that say the same of all of them.

        What one rank asked for is held against what the same rank ran; whether ranks agree is another question.
        """
        said: dict[str, tuple[tuple[int, ...], tuple[Value, ...]]] = {}
        for rank in range(self.subject.world):
            found = tuple(value for need in needs for ranks, value in self.values(need) if rank in ranks or not ranks)
            ranks, _ = said.get(repr(found), ((), ()))
            said[repr(found)] = ((*ranks, rank), found)
        return tuple(said.values())

    def value(self, need: str) -> Value:
        """Return the value all ranks share, or the lowest rank's where they differ; ``ranks-agree`` judges that."""
        return self.values(need)[0][1]

    def request(self, need: str, *, rank: int = 0) -> Known | None:
        """Return what a rank asked for, with its source, or None where it did not ask."""
        asking = (fact for fact in self.facts(need) if rank in fact.ranks or not fact.ranks)
        return next((fact.request for fact in asking if fact.request is not None), None)

    def source(self, need: str) -> str:
        """Return where the value was read, for a message."""
        return next((fact.state.source for fact in self.facts(need) if isinstance(fact.state, Known)), "")

    def differ(self, need: str, other: str) -> tuple[Difference, ...]:
        """Return how the subject and the record of another role differ in one term."""
        ours, theirs = Need.parse(need), Need.parse(other)
        if ours.name != theirs.name:
            raise AffidavitError(f'cannot compare "{need}" with "{other}": the terms differ.')
        return differ(self.records[ours.role], self.records[theirs.role], [ours.name], episode=self.episode)

    # What a sabotage does. Every lens returns another case, and refuses to return the same one.

    def without(self, need: str, *, rank: int | None = None) -> Case:
        """Return the case in which a fact was never seen, or not on one rank."""
        return self._edited(need, rank, lambda fact: None)

    def altered(self, need: str, value: Value | Callable[..., Value], *, rank: int | None = None) -> Case:
        """Return the case in which a fact has another value of the same type, or has it on one rank only."""

        def alter(fact: Fact) -> Fact:
            if not isinstance(fact.state, Known):
                raise InertSabotageError(f"sabotage of {need}: there is no value to alter.")
            new = value(fact.state.value) if callable(value) else value
            if not self.term(need).admits(new):
                kind = self.term(need).type.__name__
                raise InertSabotageError(f"sabotage of {need}: expected a {kind}, saw {type(new).__name__}.")
            return replace(fact, state=replace(fact.state, value=new))

        return self._edited(need, rank, alter)

    def falsified(self, need: str, *, rank: int | None = None) -> Case:
        """Return the case in which a fact has some other value, whatever its type is."""
        return self.altered(need, another, rank=rank)

    def asked(self, need: str, value: Value, *, rank: int | None = None) -> Case:
        """Return the case in which something else was asked for, or was on one rank only."""
        return self._edited(need, rank, lambda fact: replace(fact, request=Known(value, Method.DECLARED, "sabotage")))

    def downgraded(self, need: str) -> Case:
        """Return the case in which a fact is known by a weaker method than its term needs."""
        term = self.term(need)
        weaker = Method.DECLARED if term.least in (Method.ATTESTED, Method.DECLARED) else Method(term.least - 1)
        weaker = Method.ATTESTED if weaker is term.least else weaker

        def downgrade(fact: Fact) -> Fact:
            return replace(fact, state=replace(fact.state, method=weaker)) if isinstance(fact.state, Known) else fact

        return self._edited(need, None, downgrade)

    def without_role(self, role: str) -> Case:
        return replace(self, records={name: record for name, record in self.records.items() if name != role})

    def with_record(self, role: str, record: Record) -> Case:
        return replace(self, records={**self.records, role: record})

    def _edited(self, need: str, rank: int | None, edit: Callable[[Fact], Fact | None]) -> Case:
        wanted = Need.parse(need)
        record = self.records[wanted.role]
        facts: list[Fact] = []
        for fact in record.facts:
            if fact.name != wanted.name or (fact.ranks and fact.episode != record.nearest(self.episode)):
                facts.append(fact)
                continue
            touched, kept = _split(fact, rank, record.world)
            facts.extend(kept)
            facts.extend(new for one in touched if (new := edit(one)) is not None)
        changed = ordered(facts)
        if changed == record.facts:
            raise InertSabotageError(f"sabotage of {need}: it changes nothing, so it could never be caught.")
        return self.with_record(wanted.role, replace(record, facts=changed))


def _split(fact: Fact, rank: int | None, world: int) -> tuple[list[Fact], list[Fact]]:
    """Return the part of a fact that one rank says, and the rest; without a rank, all of it and nothing."""
    if rank is None or not fact.ranks:
        return [fact], []
    chosen = rank if rank >= 0 else world + rank
    if chosen not in fact.ranks:
        return [], [fact]
    rest = tuple(other for other in fact.ranks if other != chosen)
    return [replace(fact, ranks=(chosen,))], [replace(fact, ranks=rest)] if rest else []


def case_of(
    *,
    as_of: datetime.date = datetime.date(2026, 1, 1),
    ranks: int = 1,
    vocabulary: Vocabulary | None = None,
    asked: Mapping[str, Value] | None = None,
    **roles: Mapping[str, Value],
) -> Case:
    """Return the smallest case that holds these values, each known by the least method its term admits.

    It is what a check's ``healthy`` example is made with: ``case_of(run={...}, lock={...}, asked={...})``; the run has
    two ranks where ``ranks=2``, and ``asked`` adds requests to the run's facts.
    """
    words = vocabulary or load_vocabulary()
    records: dict[str, Record] = {}
    for role, values in {SUBJECT: {}, **roles}.items():
        if role not in (SUBJECT, *ROLES):
            raise AffidavitError(f'role "{role}": expected {SUBJECT} or one of {", ".join(ROLES)}.')
        world = ranks if role == SUBJECT else 1
        requests = asked or {} if role == SUBJECT else {}
        facts = tuple(_healthy_fact(words[name], value, world, requests.get(name)) for name, value in values.items())
        kind = {SUBJECT: Kind.RUN, "lock": Kind.LOCK, "panel": Kind.PANEL, "rehearsal": Kind.REHEARSAL}.get(
            role, Kind.RUN
        )
        records[role] = Record(kind=kind, subject="example", facts=ordered(facts), vocabulary=words, world=world)
    return Case(records=records, as_of=as_of)


def _healthy_fact(term: Term, value: Value, world: int, asked: Value | None) -> Fact:
    if not term.admits(value):
        raise AffidavitError(f"{term.name}: expected a {term.type.__name__}, saw {type(value).__name__}.")
    return Fact(
        name=term.name,
        state=Known(value, term.least, "example"),
        request=None if asked is None else Known(asked, Method.DECLARED, "example"),
        ranks=tuple(range(world)) if term.scope is Scope.RANK else (),
    )
