"""``affidavit.lock``: what each recipe resolved to where nobody asked, as a person accepted it.

An upgrade that moves a default moves every run with it and no argument changes. The lock is committed, so its diff
shows that attention went from flash to math; a sweep over what somebody asks for never touches it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.observation import Known
from affidavit.fact.term import Scope, Vocabulary
from affidavit.record import file, lockfile, plain
from affidavit.record import ranks as rank_set
from affidavit.record.compare import display, parts
from affidavit.record.lockfile import Entry, term_of
from affidavit.record.lockfile import LockError as LockError
from affidavit.record.owner import UNSEEN, is_requested, owner
from affidavit.record.record import Fact, Kind, Record, by_name, ordered
from affidavit.record.sentence import sentence, short, usual

LOCK = "affidavit.lock"
_EPISODE = re.compile(r"0|[1-9][0-9]{0,5}")


@dataclass(frozen=True, kw_only=True)
class Change:
    """One entry that is new, changed or gone, in English; ``is_usual`` where it is new and says nothing special."""

    key: str
    said: str
    is_usual: bool = False

    def __str__(self) -> str:
        return self.said


def accepted(record: Record) -> tuple[Fact, ...]:
    """Return what ``accept`` locks: known facts of lock terms that nobody requested, seen on every rank.

    The source of each is who decided it, or nothing where nobody saw that. A fact that all trainings of the script
    share has no rank and no episode; one that differs between them has its episode, and stands for every rank.

    Raises:
        LockError: the ranks say different things; a lock holds one.
    """
    found: list[Fact] = []
    for name, facts in by_name(record).items():
        if not record.vocabulary[name].lock or is_requested(record, name):
            continue
        agreed = {
            episode: known
            for episode in sorted({fact.episode for fact in facts})
            if (known := _agreed(record, [fact for fact in facts if fact.episode == episode])) is not None
        }
        everywhere = len(agreed) == record.episodes or record.vocabulary[name].scope is not Scope.RANK
        if everywhere and len({repr(known.value) for known in agreed.values()}) == 1:
            found.append(Fact(name=name, state=agreed[0]))
        else:
            found += [Fact(name=name, state=known, ranks=(0,), episode=episode) for episode, known in agreed.items()]
    return ordered(found)


def write_lock(
    path: Path,
    recipe: str,
    facts: Iterable[Fact],
    *,
    vocabulary: Vocabulary,
    as_of: datetime.date | None = None,
    dry_run: bool = False,
) -> tuple[Change, ...]:
    """Put facts under a recipe, and return what is new, changed or gone; a dry run writes nothing.

    Entries of other recipes, and of terms that these facts do not speak of, stay; an unchanged one keeps its date and
    who decided it then. What people wrote beside the entries stays.

    Raises:
        LockError: the lock that is there cannot be read or would lose a comment, and stays as it is; or the recipe
            has no name.
    """
    if not recipe or not recipe.isprintable():
        raise LockError(f"recipe {recipe!r:.80}: expected a name that prints, so that a person can review its lines.")
    held = lockfile.load_all(path)
    entries = held.recipes.setdefault(recipe, {})
    today = as_of or datetime.datetime.now(datetime.UTC).date()
    new = {_key(fact): _entry(fact, vocabulary, today) for fact in facts if isinstance(fact.state, Known)}
    changes: list[Change] = []
    for key in sorted(set(entries) - set(new)):
        if term_of(key) in map(term_of, new):
            said = f"no longer: {entries.pop(key).said(vocabulary, key)}; its trainings are told apart otherwise"
            changes.append(Change(key=key, said=said))
    for key, entry in new.items():
        old = entries.get(key)
        if old is None or repr(old.value) != repr(entry.value):
            changes.append(_change(vocabulary, key, old, entry))
            entries[key] = entry
    if changes and not dry_run:
        file.replace(path, lockfile.written(held, vocabulary).encode())
    return tuple(changes)


def locked_recipes(path: Path) -> tuple[str, ...]:
    """Return the recipes that a lock holds lines for; none where there is no file.

    Raises:
        LockError: the lock cannot be read. Whether a value fits its term is seen by :func:`read_lock` only.
    """
    return tuple(lockfile.load(path))


def read_lock(path: Path, recipe: str, vocabulary: Vocabulary) -> Record | None:
    """Return what is locked for a recipe, or None where nothing is.

    Each value is known by the least method its term needs: a person looked at it when they accepted it. Its source is
    who decided it then.

    Raises:
        LockError: truncated, newer, hostile, or with a term or value that the vocabulary does not have; it names
            the line.
    """
    entries = lockfile.load(path).get(recipe)
    if entries is None:
        return None
    facts: list[Fact] = []
    for key, entry in entries.items():
        name, _, episode = key.partition("@")
        try:
            known = Known(plain.read(vocabulary[name], entry.value), vocabulary[name].least, entry.by or LOCK)
            if episode and not _EPISODE.fullmatch(episode):
                raise LockError(f'"{key}": expected term@training, as in {name}@1')
        except AffidavitError as error:
            raise lockfile.unreadable(path, str(error), lockfile.line_of(path, recipe, key)) from error
        ranks = (0,) if episode else ()
        facts.append(Fact(name=name, state=known, ranks=ranks, episode=int(episode or 0)))
    return Record(
        kind=Kind.LOCK,
        subject=recipe,
        facts=ordered(facts),
        vocabulary=vocabulary,
        episodes=1 + max((fact.episode for fact in facts), default=0),
    )


def _entry(fact: Fact, vocabulary: Vocabulary, today: datetime.date) -> Entry:
    assert isinstance(fact.state, Known)
    by = "" if usual(vocabulary[fact.name], fact.state.value) else fact.state.source
    return Entry(value=plain.plain(fact.state.value), since=today, by=by)


def _change(vocabulary: Vocabulary, key: str, old: Entry | None, new: Entry) -> Change:
    """Return what a new value says, and what the old one was where there was one."""
    said = new.said(vocabulary, key)
    if old is None:
        return Change(key=key, said=said, is_usual=new.is_usual(vocabulary, key))
    before, now = old.read(vocabulary, key), new.read(vocabulary, key)
    if before is None or now is None:
        return Change(key=key, said=f"{said}; before: {old.said(vocabulary, key)}")
    term = vocabulary[term_of(key)]
    where = f"; in part: {'; '.join(parts(before, now))}" if short(before) == short(now) else ""
    by = f" ({old.by})" if old.by else ""
    words = usual(term, before) or (short(before) if not usual(term, now) else sentence(term, before))
    return Change(key=key, said=f"{said}; before: {words}{by}{where}")


def _agreed(record: Record, facts: list[Fact]) -> Known | None:
    """Return what all ranks know of one term in one episode and who decided it, or None where one does not know it."""
    term = record.vocabulary[facts[0].name]
    known = [fact.state for fact in facts if isinstance(fact.state, Known) and term.satisfied_by(fact.state.method)]
    if len(known) < len(facts) or (
        term.scope is Scope.RANK and len({r for f in facts for r in f.ranks}) < record.world
    ):
        return None
    if len({repr(state.value) for state in known}) > 1:
        said = " and ".join(
            f"{display(state.value)} (rank {rank_set.written(fact.ranks)})" for fact, state in zip(facts, known)
        )
        raise LockError(
            refusal(
                subject=term.name,
                expected="one value on every rank",
                saw=said,
                means="A lock would bless the disagreement.",
                action=f'Run "affidavit check {record.subject}".',
                unaffected="the lock, which stays as it was",
            )
        )
    by = owner(record, facts[0])
    return replace(known[0], source="" if by in UNSEEN else by)


def _key(fact: Fact) -> str:
    return f"{fact.name}@{fact.episode}" if fact.ranks else fact.name
