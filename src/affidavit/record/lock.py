"""``affidavit.lock``: what each recipe resolved to where nobody asked, as a person accepted it.

An upgrade that moves a default moves every run with it and no argument changes. The lock is committed, so its diff
shows that attention went from flash to math; a sweep over what somebody asks for never touches it.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import tomllib

from affidavit.fact.encoding import from_json
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.observation import Known
from affidavit.fact.term import UNSTATED, Scope, Vocabulary
from affidavit.record import file, plain
from affidavit.record import ranks as rank_set
from affidavit.record.compare import display
from affidavit.record.record import Fact, Kind, Record, by_name, ordered

FORMAT = 1
_EPISODE = re.compile(r"0|[1-9][0-9]{0,5}")
SIZE_BYTES = 1 << 20
HEADER = """\
# affidavit.lock: what each recipe resolved to where nobody asked, as a person accepted it.
# "affidavit accept RUN" writes it. Commit it and review its diff: a changed line is a run that became another run.
# A line is a term (term@1 where it holds for the second training of a script only), its value, and since when.
"""


class LockError(AffidavitError):
    """A lock cannot be read, or the facts cannot be locked."""


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A value in its TOML form, and the day on which it was accepted."""

    value: object
    since: datetime.date

    def __str__(self) -> str:
        if isinstance(self.value, dict):
            return display(from_json(self.value))
        return ", ".join(map(str, self.value)) or "none" if isinstance(self.value, list) else str(self.value)


_Recipes = dict[str, dict[str, _Line]]


def accepted(record: Record) -> tuple[Fact, ...]:
    """Return what ``accept`` locks: known facts of lock terms that nobody requested, seen on every rank.

    A fact that all trainings of the script share has no rank and no episode; one that differs between them has its
    episode, and stands for every rank.

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


def is_requested(record: Record, name: str) -> bool:
    """Say whether somebody asked for a fact, in its own request or in the term that holds what was asked for it."""
    facts = by_name(record)
    asked = facts.get(record.vocabulary[name].asked_by, ())
    named = (fact.state.value for fact in asked if isinstance(fact.state, Known))
    return any(fact.request is not None for fact in facts.get(name, ())) or any(value != UNSTATED for value in named)


def write_lock(
    path: Path, recipe: str, facts: Iterable[Fact], *, as_of: datetime.date | None = None
) -> tuple[str, ...]:
    """Put facts under a recipe, and return one sentence for each line that is new, changed or gone.

    Lines of other recipes, and of terms that these facts do not speak of, stay; an unchanged line keeps its date.

    Raises:
        LockError: the lock that is there cannot be read, and stays as it is; or the recipe has no name.
    """
    if not recipe or not recipe.isprintable():
        raise LockError(f"recipe {recipe!r:.80}: expected a name that prints, so that a person can review its lines.")
    recipes = _load(path)
    lines = recipes.setdefault(recipe, {})
    today = as_of or datetime.datetime.now(datetime.UTC).date()
    new = {
        _key(fact): _Line(value=plain.plain(fact.state.value), since=today)
        for fact in facts
        if isinstance(fact.state, Known)
    }
    said: list[str] = []
    for key in sorted(set(lines) - set(new)):
        if _term(key) in map(_term, new):
            said.append(f"{key}: {lines.pop(key)} → gone, its trainings are told apart otherwise")
    for key, line in new.items():
        old = lines.get(key)
        if old is None or repr(old.value) != repr(line.value):
            said.append(f"{key}: {old if old else 'not locked'} → {line}")
            lines[key] = line
    if said:
        file.replace(path, _written(recipes).encode())
    return tuple(said)


def locked_recipes(path: Path) -> tuple[str, ...]:
    """Return the recipes that a lock holds lines for; none where there is no file.

    Raises:
        LockError: the lock cannot be read. Whether a value fits its term is seen by :func:`read_lock` only.
    """
    return tuple(_load(path))


def read_lock(path: Path, recipe: str, vocabulary: Vocabulary) -> Record | None:
    """Return what is locked for a recipe, or None where nothing is.

    Each value is known by the least method its term needs: a person looked at it when they accepted it.

    Raises:
        LockError: truncated, newer, hostile, or with a term or value that the vocabulary does not have; it names
            the line.
    """
    lines = _load(path).get(recipe)
    if lines is None:
        return None
    facts: list[Fact] = []
    for key, line in lines.items():
        name, _, episode = key.partition("@")
        try:
            known = Known(plain.read(vocabulary[name], line.value), vocabulary[name].least, "affidavit.lock")
            if episode and not _EPISODE.fullmatch(episode):
                raise LockError(f'"{key}": expected term@training, as in {name}@1')
        except AffidavitError as error:
            raise _unreadable(path, str(error), _line_of(path, recipe, key)) from error
        ranks = (0,) if episode else ()
        facts.append(Fact(name=name, state=known, ranks=ranks, episode=int(episode or 0)))
    return Record(
        kind=Kind.LOCK,
        subject=recipe,
        facts=ordered(facts),
        vocabulary=vocabulary,
        episodes=1 + max((fact.episode for fact in facts), default=0),
    )


def _agreed(record: Record, facts: list[Fact]) -> Known | None:
    """Return what all ranks know of one term in one episode, or None where one of them does not know it."""
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
    return known[0]


def _key(fact: Fact) -> str:
    return f"{fact.name}@{fact.episode}" if fact.ranks else fact.name


def _term(key: str) -> str:
    return key.partition("@")[0]


def _load(path: Path) -> _Recipes:
    """Return every recipe of a lock, its values as TOML holds them."""
    if not path.exists():
        return {}
    text = ""
    try:
        text = file.read(path.resolve(), limit=SIZE_BYTES).decode()
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, str(error), len(text.splitlines()) if "end of document" in str(error) else 0) from error
    except (UnicodeDecodeError, RecursionError, file.FileShapeError) as error:
        raise _unreadable(path, f"{type(error).__name__}: {error}") from error
    if document.get("format") != FORMAT:
        raise _unreadable(path, f"format {document.get('format')!r:.40}; this version reads {FORMAT}")
    recipes = document.get("recipe", {})
    if set(document) - {"format", "recipe"} or not isinstance(recipes, dict):
        raise _unreadable(path, f"{', '.join(sorted(set(document) - {'format'}))} where only recipes may stand")
    return {name: _lines(path, name, table) for name, table in recipes.items()}


def _lines(path: Path, recipe: str, table: object) -> dict[str, _Line]:
    if not isinstance(table, dict):
        raise _unreadable(path, f'recipe "{recipe}" is no table')
    found: dict[str, _Line] = {}
    for key, entry in table.items():
        if not isinstance(entry, dict) or set(entry) != {"value", "since"} or type(entry["since"]) is not datetime.date:
            raise _unreadable(path, f'"{key}" is no {{ value = …, since = date }}', _line_of(path, recipe, key))
        found[key] = _Line(value=entry["value"], since=entry["since"])
    return found


def _line_of(path: Path, recipe: str, key: str) -> int:
    """Return the line on which a key of a recipe stands, as near as the text shows it."""
    inside = False
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        inside = line.strip() == f"[recipe.{_toml(recipe)}]" if line.startswith("[") else inside
        if inside and line.lstrip(' "').startswith(key):
            return number
    return 0


def _written(recipes: Mapping[str, Mapping[str, _Line]]) -> str:
    parts = [HEADER, f"format = {FORMAT}\n"]
    for recipe, lines in sorted(recipes.items()):
        parts.append(f"\n[recipe.{_toml(recipe)}]\n")
        parts += [
            f"{_toml(key)} = {{ value = {_toml(line.value)}, since = {line.since.isoformat()} }}\n"
            for key, line in sorted(lines.items())
        ]
    return "".join(parts)


def _toml(value: object) -> str:
    """Return one value on one line, without a character that a review does not show.

    ``tomli_w`` breaks a list over several lines, and a diff then shows a value without its term.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in quoted)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    return repr(value)


def _unreadable(path: Path, saw: str, line: int = 0) -> LockError:
    return LockError(
        refusal(
            subject=f"{path.name}:{line}" if line else path.name,
            expected=f"a lock of format {FORMAT}",
            saw=saw,
            means="Nothing that was accepted can be held against this run.",
            action=f'Restore it ("git checkout -- {path.name}"), or remove it and accept a run anew.',
            unaffected="the run and its record",
        )
    )
