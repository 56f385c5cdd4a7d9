"""A row of the vocabulary, and the vocabulary itself: the seam between those who see and those who judge."""

from __future__ import annotations

import difflib
import enum
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from affidavit.fact.errors import AffidavitError
from affidavit.fact.values import VALUE_TYPES, Value, names


class Scope(enum.Enum):
    """Of what a term speaks: the project as it lies on disk, the run as a whole, or one rank of it."""

    PROJECT = "project"
    RUN = "run"
    RANK = "rank"


class Method(enum.IntEnum):
    """How we know a value. Ordered; a person's word stands apart and satisfies only terms that ask for it."""

    ATTESTED = 0
    DECLARED = 1
    INSPECTED = 2
    EXECUTED = 3


class Ranks(enum.Enum):
    """What the ranks of one run owe each other in this term."""

    SAME = "same"
    DIFFERS = "differs"
    FREE = "free"


class Category(enum.Enum):
    """What a difference in this term means: another result, another machine, or nothing."""

    MEANING = "meaning"
    ENVIRONMENT = "environment"
    INCIDENTAL = "incidental"


UNSTATED = "unstated"
"""What a term that holds a request says where nobody made one."""


class UnknownTermError(AffidavitError):
    """A name is outside the vocabulary."""


class TermShapeError(AffidavitError):
    """A row of the vocabulary is malformed, doubled, or under a prefix that is not its owner's."""


_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){1,2}")


@dataclass(frozen=True)
class Term:
    """One thing that can be known about a run.

    Args:
        name: ``subject.property[.aspect]``; the unit is its last word; layer, rank and step live in the value.
        type: one type of the value algebra.
        unit: of the number or of what is counted; "" where there is none.
        scope: PROJECT, RUN or RANK.
        least: the weakest method that satisfies a need for this term.
        meaning: one sentence that a reader of a report understands.
        ranks: whether ranks must agree, must differ, or are free.
        category: what a difference means; ``diff`` shows MEANING and folds the rest.
        lock: ``accept`` writes it to ``affidavit.lock`` where nobody requested it.
        asked_by: the term that holds what was asked for it, where that is of another type; "unstated" there is nobody.
            A term that was executed has none: what a request came to is worth a lock whoever made it.
        seat: it decides speed or depends on the device, so a rehearsal elsewhere cannot carry it over.
        derived_from: the terms it was computed from; it falls with them.
        follows: the terms whose difference explains one of this, the nearest first; ``diff`` folds it under them.
        phrase: the sentence that a value completes, ``{}`` standing for it; without one the name says it.
        usual: values that say nothing special, each with the words for it; they are told together.
        since: the release that brought the row.
    """

    name: str
    type: type
    unit: str
    scope: Scope
    least: Method
    meaning: str
    ranks: Ranks = Ranks.SAME
    category: Category = Category.MEANING
    lock: bool = False
    asked_by: str = ""
    seat: bool = False
    derived_from: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    phrase: str = ""
    usual: tuple[tuple[Value, str], ...] = ()
    since: str = "0.1"

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise TermShapeError(f"term {self.name!r}: expected subject.property[.aspect] in ASCII lower case.")
        if self.type not in VALUE_TYPES:
            raise TermShapeError(f"term {self.name}: expected a type of {names(VALUE_TYPES)}, saw {self.type!r}.")
        if not self.meaning.strip():
            raise TermShapeError(f"term {self.name}: has no meaning.")
        if self.phrase and self.phrase.count("{}") != 1:
            raise TermShapeError(f"term {self.name}: expected one {{}} in its phrase, saw {self.phrase!r}.")
        if not all(self.admits(value) and words.strip() for value, words in self.usual):
            raise TermShapeError(f"term {self.name}: a usual value is no {self.type.__name__}, or has no words.")

    @property
    def leans_on(self) -> tuple[str, ...]:
        """The terms that must be in a vocabulary with this one."""
        return (*self.derived_from, *filter(None, (self.asked_by,)))

    def admits(self, value: Value) -> bool:
        return type(value) is self.type

    def satisfied_by(self, method: Method) -> bool:
        """A person's word satisfies only a term that asks for it; nothing else stands in for that word."""
        if Method.ATTESTED in (method, self.least):
            return method is self.least
        return method >= self.least


class Vocabulary:
    """The rows in force, by name: the house's own, and each plugin's under its own prefix."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self._terms: dict[str, Term] = {}
        for term in terms:
            if term.name in self._terms:
                raise TermShapeError(
                    f"term {term.name}: two rows have this name; a removed or re-typed row is a new name."
                )
            self._terms[term.name] = term
        for term in self._terms.values():
            for source in term.leans_on:
                self[source]

    def __getitem__(self, name: str) -> Term:
        if name not in self._terms:
            near = difflib.get_close_matches(name, self._terms, 1)
            hint = f'; did you mean "{near[0]}"' if near else ""
            raise UnknownTermError(f'term "{name}" is not in the vocabulary{hint}. Run "affidavit explain --terms".')
        return self._terms[name]

    def __contains__(self, name: object) -> bool:
        return name in self._terms

    def __iter__(self) -> Iterator[Term]:
        return iter(self._terms.values())

    def __len__(self) -> int:
        return len(self._terms)

    def extended(self, terms: Iterable[Term], *, prefix: str) -> Vocabulary:
        """Return this vocabulary with a plugin's rows, each under the plugin's own prefix.

        Raises:
            TermShapeError: a row is outside the prefix, or shadows one that is there.
        """
        brought = tuple(terms)
        for term in brought:
            if not term.name.startswith(f"{prefix}."):
                raise TermShapeError(
                    f'term {term.name}: a plugin named "{prefix}" brings terms under "{prefix}." only.'
                )
        return Vocabulary((*self, *brought))

    def derived(self, name: str) -> tuple[str, ...]:
        """Return every term that was computed from this one, directly or through others."""
        found: list[str] = []
        pending = [name]
        while pending:
            source = pending.pop()
            for term in self:
                if source in term.derived_from and term.name not in found:
                    found.append(term.name)
                    pending.append(term.name)
        return tuple(found)
