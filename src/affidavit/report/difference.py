"""How two runs differ: what changes the result line by line, everything else as a count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from affidavit.fact.observation import Unknown
from affidavit.fact.term import Category, Vocabulary
from affidavit.record.compare import Difference, differ
from affidavit.record.record import Record
from affidavit.report.terminal import Line, Span, Tone, line


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two records held against each other in every term that either speaks of.

    ``unseen`` are terms that both know only as unknown: they are equal in nothing but our ignorance.
    """

    left: str
    right: str
    differences: tuple[Difference, ...]
    equal: int
    unseen: tuple[str, ...]

    @property
    def changes_meaning(self) -> bool:
        return bool(self.of(Category.MEANING))

    def of(self, category: Category) -> tuple[Difference, ...]:
        return tuple(difference for difference in self.differences if difference.category is category)


def compare(left: Record, right: Record) -> Comparison:
    """Return every difference between two records, by the one comparator of the house.

    Blind to: episodes before the last.
    """
    words = Vocabulary((*left.vocabulary, *(term for term in right.vocabulary if term.name not in left.vocabulary)))
    left, right = replace(left, vocabulary=words), replace(right, vocabulary=words)
    names = sorted({fact.name for fact in (*left.facts, *right.facts)})
    unseen = tuple(name for name in names if _is_unseen(left, name) and _is_unseen(right, name))
    compared = [name for name in names if name not in unseen]
    differences = differ(left, right, compared)
    return Comparison(
        left=left.subject,
        right=right.subject,
        differences=differences,
        equal=len(compared) - len(differences),
        unseen=unseen,
    )


def _is_unseen(record: Record, name: str) -> bool:
    return all(isinstance(fact.state, Unknown) for fact in record.find(name))


def lines(comparison: Comparison, *, every: bool = False) -> Iterator[Line]:
    """Yield the differences of meaning, and the rest folded into counts unless ``every`` is asked for."""
    yield line(Span(comparison.left, Tone.STRONG), " against ", Span(comparison.right, Tone.STRONG))
    meaning = comparison.of(Category.MEANING)
    for difference in meaning:
        yield from _difference(difference)
    if not meaning:
        yield line("no difference in any fact of meaning that both know")
    for category in (Category.ENVIRONMENT, Category.INCIDENTAL):
        found = comparison.of(category)
        if every:
            for difference in found:
                yield from _difference(difference)
        elif found:
            names = ", ".join(difference.name for difference in found)
            text = f"{len(found)} {category.value} differences: {names}; --all shows them"
            yield line(Span(text, Tone.FAINT))
    yield line(Span(f"{comparison.equal} facts equal", Tone.FAINT))
    if comparison.unseen:
        names = ", ".join(comparison.unseen)
        yield line(Span(f"{len(comparison.unseen)} facts unknown in both, so not compared: {names}", Tone.DOUBT))


def _difference(difference: Difference) -> Iterator[Line]:
    yield line(Span(difference.name, Tone.STRONG), Span(f"  {difference.category.value}", Tone.FAINT))
    yield line(difference.left, head=Span("  A", Tone.FAINT), indent=4)
    yield line(difference.right, head=Span("  B", Tone.FAINT), indent=4)
    for part in difference.where:
        yield line(Span(part, Tone.FAINT), indent=6)
