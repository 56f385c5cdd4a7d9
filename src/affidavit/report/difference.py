"""How two runs differ: what changes the result, a paragraph each, with what moved with it; everything else folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from affidavit.fact.observation import Known, Unknown
from affidavit.fact.term import Category, Vocabulary
from affidavit.fact.values import Layers, Table, Value
from affidavit.record.annotation import by_subject
from affidavit.record.compare import Difference, differ, display
from affidavit.record.record import Fact, Kind, Record
from affidavit.report.absence import brief
from affidavit.report.contrast import LEFT, RIGHT, Change, asked, told, value_of
from affidavit.report.terminal import Line, Span, Tone, line

_NAMES_SHOWN = 4
_FELLED_SHOWN = 4


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two records held against each other in every term that either speaks of.

    ``unseen`` are terms that both know only as unknown: they are equal in nothing but our ignorance. ``one_sided``
    are those that one side knows, by why the other does not; ``hides_meaning`` where one of them is of meaning.
    ``felled`` are facts that a correction took back, as a sentence each with what they were.
    ``asked`` are requests of one side that came to the same on the other, ``names`` all terms of which either speaks.
    """

    left: str
    right: str
    changes: tuple[Change, ...]
    equal: int
    unseen: tuple[str, ...]
    one_sided: tuple[tuple[str, tuple[str, ...]], ...] = ()
    hides_meaning: bool = False
    asked: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    felled: tuple[str, ...] = ()

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(change.difference for change in self.changes)

    @property
    def changes_meaning(self) -> bool:
        return bool(self.of(Category.MEANING))

    def of(self, category: Category) -> tuple[Difference, ...]:
        return tuple(difference for difference in self.differences if difference.category is category)

    def with_it(self, name: str) -> tuple[Change, ...]:
        """Return what moved with a term."""
        return tuple(change for change in self.changes if change.under == name)


def compare(left: Record, right: Record) -> Comparison:
    """Return every difference between two records, by the one comparator of the house.

    A lock is compared in what it holds. Blind to: episodes before the last.
    """
    words = Vocabulary((*left.vocabulary, *(term for term in right.vocabulary if term.name not in left.vocabulary)))
    left, right = _reduced(replace(left, vocabulary=words)), _reduced(replace(right, vocabulary=words))
    names = sorted({fact.name for fact in (*left.facts, *right.facts)})
    for held in (left, right):
        if held.kind is Kind.LOCK:
            names = sorted({fact.name for fact in held.facts})
    unseen = tuple(name for name in names if not _is_known(left, name) and not _is_known(right, name))
    compared = [name for name in names if _is_known(left, name) and _is_known(right, name)]
    differences = tuple(one for one in differ(left, right, compared) if not _is_renamed(left, right, one.name))
    roots = _causes(words, [one.name for one in differences if one.category is Category.MEANING])
    changes = tuple(told(left, right, one, roots.get(one.name, "")) for one in differences)
    differing = {one.name for one in differences}
    alone = [name for name in names if name not in (*compared, *unseen)]
    return Comparison(
        left=left.subject,
        right=right.subject,
        changes=changes,
        equal=len(compared) - len(differences),
        unseen=unseen,
        one_sided=_one_sided(left, right, alone),
        hides_meaning=any(words[name].category is Category.MEANING for name in alone),
        names=tuple(names),
        felled=tuple(dict.fromkeys((*_felled(LEFT, left), *_felled(RIGHT, right)))),
        asked=tuple(_asked_alone(left, right, [name for name in compared if name not in differing])),
    )


def lines(comparison: Comparison, *, every: bool = False) -> Iterator[Line]:
    """Yield the differences of meaning, and the rest folded into counts unless ``every`` is asked for."""
    yield line(
        Span(f"{LEFT} ", Tone.FAINT),
        Span(comparison.left, Tone.STRONG),
        Span(f" against {RIGHT} ", Tone.FAINT),
        Span(comparison.right, Tone.STRONG),
    )
    meaning = [one for one in comparison.changes if one.difference.category is Category.MEANING and not one.under]
    for change in meaning:
        yield from _paragraph(comparison, change, every=every)
    if not meaning:
        yield line("no difference in any fact of meaning that both know")
    if comparison.asked:
        yield _folded(f"asked for on one side only, with the same result: {'; '.join(comparison.asked)}")
    for category in (Category.ENVIRONMENT, Category.INCIDENTAL):
        found = [one for one in comparison.changes if one.difference.category is category]
        if every:
            for change in found:
                yield line(f"{change.difference.name}: {change.said}", indent=2)
        elif found:
            noun = "difference" if len(found) == 1 else "differences"
            names = ", ".join(one.difference.name for one in found[:_NAMES_SHOWN])
            more = f" and {len(found) - _NAMES_SHOWN} more" if len(found) > _NAMES_SHOWN else ""
            yield _folded(f"{len(found)} {category.value} {noun}: {names}{more}; --all shows them")
    for why, alone in comparison.one_sided:
        listed = ", ".join(alone if every else by_subject(alone, comparison.names))
        yield line(Span(f"{_facts(len(alone))} {why}: {listed}", Tone.DOUBT), indent=2)
    felled = comparison.felled if every else comparison.felled[:_FELLED_SHOWN]
    yield from (line(Span(said, Tone.BAD), indent=2) for said in felled)
    if len(felled) < len(comparison.felled):
        yield _folded(f"and {len(comparison.felled) - len(felled)} more that fell; --all shows them")
    yield _folded(f"{_facts(comparison.equal)} equal")
    if comparison.unseen:
        names = ", ".join(comparison.unseen if every else by_subject(comparison.unseen, comparison.names))
        yield line(
            Span(f"{_facts(len(comparison.unseen))} unknown in both, so not compared: {names}", Tone.DOUBT), indent=2
        )


def _facts(count: int) -> str:
    return f"{count:,} fact" if count == 1 else f"{count:,} facts"


def _folded(text: str) -> Line:
    return line(Span(text, Tone.FAINT), indent=2)


def _paragraph(comparison: Comparison, change: Change, *, every: bool) -> Iterator[Line]:
    by = "; ".join(f"{side}: {said}" for side, said in ((LEFT, change.left_by), (RIGHT, change.right_by)) if said)
    by = f"{LEFT} and {RIGHT}: {change.left_by}" if by and change.left_by == change.right_by else by
    yield line(Span(change.said, Tone.STRONG), Span(f"  {by}" if by else "", Tone.FAINT), indent=2)
    moved = comparison.with_it(change.difference.name)
    if every:
        for one in moved:
            yield line(Span(f"with it: {one.said}", Tone.FAINT), indent=6)
    elif moved:
        sentences = [one.said for one in moved if one.is_locked]
        names = ", ".join(one.difference.name for one in moved if not one.is_locked)
        yield line(Span(f"with it: {'; '.join([*sentences, names] if names else sentences)}", Tone.FAINT), indent=6)


# --- what is held against what ----------------------------------------------------------------------------------


def _reduced(record: Record) -> Record:
    """Return the record with its counts brought to what they mean where a difference is looked for."""

    def reduced(fact: Fact) -> Fact:
        meant = _MEANT.get(fact.name)
        if meant is None or not isinstance(fact.state, Known):
            return fact
        return replace(fact, state=replace(fact.state, value=meant(fact.state.value)))

    return record.with_facts(map(reduced, record.facts))


def _filters(value: Value) -> Value:
    """Return the filters that left a row out; one that left none out changed nothing."""
    if not isinstance(value, Table) or not {"before", "after"} <= set(value.columns):
        return value
    return replace(
        value,
        rows=tuple(
            cells for cells, one in zip(value.rows, value.records(), strict=True) if one["before"] != one["after"]
        ),
    )


_MEANT: Mapping[str, Callable[[Value], Value]] = {"dataset.filters": _filters}


def _is_known(record: Record, name: str) -> bool:
    found = record.find(name)
    return bool(found) and not all(isinstance(fact.state, Unknown) for fact in found)


def _is_renamed(left: Record, right: Record, name: str) -> bool:
    """Say whether two sets of layers say the same of the same modules, of which one stands deeper in a wrapper."""
    ours, theirs = (value_of(record, name) for record in (left, right))
    if not isinstance(ours, Layers) or not isinstance(theirs, Layers):
        return False
    short_paths, long_paths = sorted(
        (ours.expand(), theirs.expand()), key=lambda paths: min(map(len, paths), default=0)
    )
    tails = {path: next((tail for tail in _tails(path) if tail in short_paths), "") for path in long_paths}
    same = all(tail and short_paths[tail] == long_paths[path] for path, tail in tails.items())
    return same and len(short_paths) == len(long_paths)


def _tails(path: str) -> Iterator[str]:
    parts = path.split(".")
    return (".".join(parts[start:]) for start in range(len(parts)))


def _causes(words: Vocabulary, names: Iterable[str]) -> dict[str, str]:
    """Return, for each term whose difference another explains, the term that nothing explains."""
    differing = set(names)

    def root(name: str, seen: frozenset[str]) -> str:
        nearest = next((cause for cause in words[name].follows if cause in differing and cause not in seen), "")
        return root(nearest, seen | {nearest}) if nearest else name

    return {name: cause for name in differing if (cause := root(name, frozenset({name}))) != name}


def _one_sided(left: Record, right: Record, names: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return terms that one side knows, by which side does not and why."""
    found: dict[str, list[str]] = {}
    for name in names:
        side, record = (RIGHT, right) if _is_known(left, name) else (LEFT, left)
        causes = dict.fromkeys(fact.state.cause.value for fact in record.find(name) if isinstance(fact.state, Unknown))
        why = f"unknown in {side} ({', '.join(causes)})" if causes else f"not recorded in {side}"
        found.setdefault(why, []).append(name)
    return tuple((why, tuple(said)) for why, said in sorted(found.items()))


def _felled(side: str, record: Record) -> Iterator[str]:
    """Yield what a correction took back on one side, and what it was: it is shown, and compared with nothing."""
    for fact in record.facts:
        if fact.was is not None and isinstance(fact.state, Unknown):
            was = f"; it was {display(fact.was.value)}" if isinstance(fact.was, Known) else ""
            yield f"{side}: {fact.name} {brief(fact.state.why)}{was}"


def _asked_alone(left: Record, right: Record, names: Iterable[str]) -> Iterator[str]:
    """Yield what one side asked for and the other did not; a lock holds nothing that was asked for."""
    if Kind.LOCK in (left.kind, right.kind):
        return
    for name in names:
        sources = {side: source for side, record in ((LEFT, left), (RIGHT, right)) if (source := asked(record, name))}
        if len(sources) == 1:
            ((side, source),) = sources.items()
            yield f"{name} ({side}: {source})"
