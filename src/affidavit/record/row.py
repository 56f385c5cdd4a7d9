"""Terms and facts as rows of a document: the same in as out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Known, State, state_from_json, state_to_json
from affidavit.fact.term import Category, Method, Ranks, Scope, Term, Vocabulary
from affidavit.fact.values import VALUE_TYPES
from affidavit.record import ranks as rank_set
from affidavit.record.record import Fact

_TYPES = {kind.__name__: kind for kind in VALUE_TYPES}


class RowError(AffidavitError):
    """A row holds no term or fact that this version can read."""


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Closed: a field that this version does not know is an error, because what it means is unknown too."""


class TermRow(Part, frozen=True, kw_only=True):
    """A row of the vocabulary as it was when the run was sealed."""

    name: str
    type: str
    unit: str
    scope: str
    least: str
    meaning: str
    ranks: str
    category: str
    lock: bool
    asked_by: str
    seat: bool
    derived_from: tuple[str, ...]
    since: str


class FactRow(Part, frozen=True, kw_only=True):
    """A fact: its state and request in the JSON form of :mod:`affidavit.fact.observation`, its ranks as ranges."""

    name: str
    state: dict[str, Any]
    request: dict[str, Any] | None = None
    ranks: str = ""
    episode: int = 0
    step: int = 0


def fact_row(fact: Fact) -> FactRow:
    """Return the row of a fact."""
    return FactRow(
        name=fact.name,
        state=state_to_json(fact.state),
        request=None if fact.request is None else state_to_json(fact.request),
        ranks=rank_set.written(fact.ranks),
        episode=fact.episode,
        step=fact.step,
    )


def read_fact(row: FactRow, vocabulary: Vocabulary, *, world: int, episodes: int) -> Fact:
    """Return the fact that a row holds.

    Raises:
        AffidavitError: a term, type, rank or episode that the vocabulary or the run does not have.
    """
    term = vocabulary[row.name]
    ranks = rank_set.read(row.ranks)
    request = None if row.request is None else _state(row.request, term)
    if not 0 <= row.episode < episodes or any(rank >= world for rank in ranks):
        raise RowError(f"{row.name}: episode {row.episode} on ranks {row.ranks} is outside this run")
    if (term.scope is Scope.RANK) != bool(ranks):
        raise RowError(f"{row.name}: scope {term.scope.value} and ranks {row.ranks!r} do not fit")
    if request is not None and not isinstance(request, Known):
        raise RowError(f"{row.name}: a request is a value, never unknown")
    return Fact(
        name=row.name,
        state=_state(row.state, term),
        request=request,
        ranks=ranks,
        episode=row.episode,
        step=row.step,
    )


def _state(raw: Mapping[str, object], term: Term) -> State:
    state = state_from_json(raw)
    if isinstance(state, Known) and not term.admits(state.value):
        raise RowError(f"{term.name}: expected a {term.type.__name__}, saw {type(state.value).__name__}")
    return state


def term_row(term: Term) -> TermRow:
    """Return the row of a term."""
    return TermRow(
        name=term.name,
        type=term.type.__name__,
        unit=term.unit,
        scope=term.scope.value,
        least=term.least.name,
        meaning=term.meaning,
        ranks=term.ranks.value,
        category=term.category.value,
        lock=term.lock,
        asked_by=term.asked_by,
        seat=term.seat,
        derived_from=term.derived_from,
        since=term.since,
    )


def read_term(row: TermRow) -> Term:
    """Return the term that a row holds.

    Raises:
        RowError: a word in it is none that this version knows.
    """
    try:
        return Term(
            name=row.name,
            type=_TYPES[row.type],
            unit=row.unit,
            scope=Scope(row.scope),
            least=Method[row.least],
            meaning=row.meaning,
            ranks=Ranks(row.ranks),
            category=Category(row.category),
            lock=row.lock,
            asked_by=row.asked_by,
            seat=row.seat,
            derived_from=row.derived_from,
            since=row.since,
        )
    except (KeyError, ValueError, AffidavitError) as error:
        raise RowError(f"term {row.name:.80}: {error} is nothing that this version knows.") from error
