"""The text of ``affidavit.lock``: entries of recipes under sentences of ours, and the comments of people between them.

A reviewer reads the difference of this file in a pull request. So each entry is one line, its sentence stands above
it, and one setting that changes is one hunk. ``#:`` begins what we write, and is made anew from the entries each time;
``#`` begins what a person wrote, and stays above the line that it was above.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import tomllib

from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.term import Vocabulary
from affidavit.fact.values import Value
from affidavit.record import file, plain
from affidavit.record.sentence import clipped, sentence, usual

FORMAT = 1
SIZE_BYTES = 1 << 20
OURS = "#:"
HEADER = f"""\
{OURS} affidavit.lock: what each recipe resolved to where nobody asked, as a person accepted it.
{OURS} "affidavit accept RUN" writes it. Commit it and review its diff: a changed line is a run that became another run.
{OURS} A line is a term (term@1: in the second training of a script only), its value, who decided it, and since when.
"""
_STATEMENT_LINES = 200
"""A value that people broke over more lines than this is none that they would review."""
Place = tuple[str, ...]
"""A recipe, a recipe and one of its entries, or what stands outside of all recipes."""
_FORMAT: Place = ("", "format")
_END: Place = ("", "")


class LockError(AffidavitError):
    """A lock cannot be read, or the facts cannot be locked."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A value in its TOML form, the day on which it was accepted, and who decided it, where that was seen."""

    value: object
    since: datetime.date
    by: str = ""

    def read(self, vocabulary: Vocabulary, key: str) -> Value | None:
        """Return the value, or None where the vocabulary has no such term or no such value of it."""
        name = term_of(key)
        try:
            return plain.read(vocabulary[name], self.value)
        except AffidavitError:
            return None

    def said(self, vocabulary: Vocabulary, key: str) -> str:
        """Return the entry in English: what is so, in which training, and who decided it."""
        value = self.read(vocabulary, key)
        text = clipped(_toml(self.value)) if value is None else sentence(vocabulary[term_of(key)], value)
        text = f"{key} is {text}" if value is None else text
        episode = key.partition("@")[2]
        training = f", in training {int(episode) + 1}" if episode.isdecimal() else ""
        return f"{text}{training}{f' ({self.by})' if self.by else ''}"

    def is_usual(self, vocabulary: Vocabulary, key: str) -> bool:
        """Say whether the entry holds nothing special, so that a few words beside it are enough."""
        value = self.read(vocabulary, key)
        return value is not None and bool(usual(vocabulary[term_of(key)], value))


Recipes = dict[str, dict[str, Entry]]


@dataclass(kw_only=True)
class Lockfile:
    """The recipes of a lock, and what people wrote between them by the place it stands above."""

    recipes: Recipes
    remarks: dict[Place, list[str]] = field(default_factory=dict)


def term_of(key: str) -> str:
    """Return the term of an entry, which may be that of one training only."""
    return key.partition("@")[0]


def load(path: Path) -> Recipes:
    """Return every recipe of a lock, its values as TOML holds them, and no comment.

    Raises:
        LockError: truncated, newer or hostile; it names the line where it can.
    """
    return _parsed(path, _text(path))


def load_all(path: Path) -> Lockfile:
    """Return a lock with the comments that people wrote into it, so that it can be written again.

    Raises:
        LockError: it cannot be read, or a comment stands inside of a value, where no rewriting can keep it.
    """
    text = _text(path)
    return Lockfile(recipes=_parsed(path, text), remarks=_remarks(path, text))


def written(lock: Lockfile, vocabulary: Vocabulary) -> str:
    """Return the text of a lock, with every comment of a person in it."""
    remarks = _inherited(lock)
    lines = [*HEADER.splitlines(), *remarks.pop(_FORMAT, ()), f"format = {FORMAT}"]
    for recipe, entries in sorted(lock.recipes.items()):
        lines += ["", *remarks.pop((recipe,), ()), f"[recipe.{_toml(recipe)}]"]
        for key, entry in sorted(entries.items()):
            lines += [*remarks.pop((recipe, key), ()), *_lines(key, entry, vocabulary)]
    for left in remarks.values():
        lines += ["", *left]
    return "\n".join(lines) + "\n"


def _inherited(lock: Lockfile) -> dict[Place, list[str]]:
    """Return the comments of people; those of an entry that is gone go to its successor, or to the recipe."""
    found: dict[Place, list[str]] = {}
    for place, remarks in lock.remarks.items():
        entries = lock.recipes.get(place[0], {})
        if len(place) > 1 and place[0] and place[1] not in entries:
            heir = next((key for key in sorted(entries) if term_of(key) == term_of(place[1])), "")
            place = (place[0], heir) if heir else place[:1]
        found.setdefault(place, []).extend(remarks)
    return found


def line_of(path: Path, recipe: str, key: str) -> int:
    """Return the line on which a key of a recipe stands, as near as the text shows it."""
    inside = False
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        inside = line.strip() == f"[recipe.{_toml(recipe)}]" if line.startswith("[") else inside
        if inside and line.lstrip(' "').startswith(key):
            return number
    return 0


def unreadable(path: Path, saw: str, line: int = 0) -> LockError:
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


def _lines(key: str, entry: Entry, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the sentence of an entry and its line; nothing special is said beside it."""
    said = _printing(f"{OURS} {entry.said(vocabulary, key)}")
    by = f", by = {_toml(entry.by)}" if entry.by else ""
    line = f"{_toml(key)} = {{ value = {_toml(entry.value)}{by}, since = {entry.since.isoformat()} }}"
    if entry.is_usual(vocabulary, key):
        yield f"{line}  {said}"
    else:
        yield said
        yield line


def _text(path: Path) -> str:
    if not path.exists():
        return ""
    try:
        return file.read(path.resolve(), limit=SIZE_BYTES).decode()
    except (UnicodeDecodeError, file.FileShapeError) as error:
        raise unreadable(path, f"{type(error).__name__}: {error}") from error


def _parsed(path: Path, text: str) -> Recipes:
    if not path.exists():
        return {}
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise unreadable(path, str(error), len(text.splitlines()) if "end of document" in str(error) else 0) from error
    except RecursionError as error:
        raise unreadable(path, f"{type(error).__name__}: {error}") from error
    if document.get("format") != FORMAT:
        raise unreadable(path, f"format {document.get('format')!r:.40}; this version reads {FORMAT}")
    recipes = document.get("recipe", {})
    if set(document) - {"format", "recipe"} or not isinstance(recipes, dict):
        raise unreadable(path, f"{', '.join(sorted(set(document) - {'format'}))} where only recipes may stand")
    return {name: _entries(path, name, table) for name, table in recipes.items()}


def _entries(path: Path, recipe: str, table: object) -> dict[str, Entry]:
    if not isinstance(table, dict):
        raise unreadable(path, f'recipe "{recipe}" is no table')
    found: dict[str, Entry] = {}
    for key, raw in table.items():
        shaped = isinstance(raw, dict) and {"value", "since"} <= set(raw) <= {"value", "since", "by"}
        if not shaped or type(raw["since"]) is not datetime.date or not isinstance(raw.get("by", ""), str):
            raise unreadable(path, f'"{key}" is no {{ value = …, since = date }}', line_of(path, recipe, key))
        found[key] = Entry(value=raw["value"], since=raw["since"], by=raw.get("by", ""))
    return found


def _remarks(path: Path, text: str) -> dict[Place, list[str]]:
    """Return the comments of people by the statement that each stands above or beside; those at the end have none."""
    found: dict[Place, list[str]] = {}
    pending: list[str] = []
    recipe: Place = ()
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if line.lstrip().startswith("#"):
            pending += [] if line.lstrip().startswith(OURS) else [line.strip()]
        elif line.strip():
            statement, comment = _statement(path, number, line, lines)
            place = _place(statement)
            if line.lstrip().startswith("["):
                recipe = place
            elif recipe:
                place = recipe + place[-1:]
            pending += [comment] if comment and not comment.startswith(OURS) else []
            if pending:
                found.setdefault(place, []).extend(pending)
            pending = []
    return {**found, _END: pending} if pending else found


def _statement(path: Path, number: int, line: str, lines: Iterator[tuple[int, str]]) -> tuple[str, str]:
    """Return the whole statement that begins in a line, and the comment behind it."""
    for _ in range(_STATEMENT_LINES):
        for end in (at for at, letter in enumerate(f"{line}#") if letter == "#"):
            try:
                tomllib.loads(line[:end])
            except tomllib.TOMLDecodeError:
                continue
            if "\n" in line and "#" in line:
                raise unreadable(path, "a comment inside of a value, which cannot be kept: put it above", number)
            return line[:end], line[end:].strip()
        _, more = next(lines, (0, ""))
        line = f"{line}\n{more}"
    raise unreadable(path, "a value over very many lines", number)


def _place(statement: str) -> Place:
    """Return what a statement is about: a recipe, an entry of one, or what stands outside of all recipes."""
    keys: list[str] = []
    inner: object = tomllib.loads(statement)
    while isinstance(inner, Mapping) and len(inner) == 1 and len(keys) < 3:
        ((key, inner),) = inner.items()
        keys.append(key)
    return tuple(keys[1:]) if keys[0] == "recipe" else ("", keys[0])


def _toml(value: object) -> str:
    """Return one value on one line, without a character that a review does not show.

    ``tomli_w`` breaks a list over several lines, and a diff then shows a value without its term.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _printing(json.dumps(value, ensure_ascii=False))
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    return repr(value)


def _printing(text: str) -> str:
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in text)
