"""Whom a project believes: public keys, each a file or written out, and those that it believes no longer.

A file can be swapped for another by whoever may write it, and a line of ``affidavit.toml`` shows in a review what it
was swapped for.

A key gives way to another by a word that it signs, or is revoked. One that gave way is believed for what it sealed
before. One that is revoked may be in strange hands, which can write any date: what it says of before is not checked,
and of later contradicts. A key that is only lost needs neither: nobody signs with it.

Source: RFC 5280 §5.3.2 (the day from which a key is suspected); The Update Framework §6.1.
Blind to: when a key fell into strange hands; the date is a person's word.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from affidavit.fact.errors import AffidavitError
from affidavit.record import key
from affidavit.record.key import PublicKey
from affidavit.record.keys import Keys

Named = Path | PublicKey
"""A key as a project names it: the file that holds it, or itself."""


@dataclass(frozen=True, kw_only=True)
class Revoked:
    """A key that a project believes no longer, as its settings name it: from which day, and why."""

    key: Named
    since: datetime.date
    why: str


@dataclass(frozen=True, kw_only=True)
class Retired:
    """A key that seals no more since a time: ``to`` is what took its place; without it, it was revoked, and why."""

    id: str
    since: datetime.datetime
    to: str = ""
    why: str = ""

    @property
    def is_revoked(self) -> bool:
        return not self.to

    @property
    def said(self) -> str:
        day = self.since.date().isoformat()
        return f"revoked as of {day} ({self.why})" if self.is_revoked else f"which gave way to {self.to} on {day}"


@dataclass(frozen=True, kw_only=True)
class Trust:
    """Whom a project believes.

    Args:
        keys: that can verify.
        problems: why others of them cannot be read.
        retired: those of the keys that seal no more.
        expects: whether what is sealed here is signed.
    """

    keys: tuple[PublicKey, ...] = ()
    problems: tuple[str, ...] = ()
    expects: bool = False
    retired: tuple[Retired, ...] = ()

    def gone(self, id: str) -> Retired | None:
        """Return since when a key seals no more, or None where it does; that it is revoked outweighs all else."""
        found = [one for one in self.retired if one.id == id]
        return min(found, key=lambda one: (not one.is_revoked, one.since), default=None)


def believed(given: Iterable[Named], *, revoked: Iterable[Revoked] = (), expects: bool = False) -> Trust:
    """Return whom these files and keys name; one that cannot be read is a problem and no error."""
    held, gone = tuple(given), tuple(revoked)
    problems: list[str] = []
    keys = list(_read(held, problems))
    retired: list[Retired] = []
    for one in gone:
        for public in _read((one.key,), problems):
            since = datetime.datetime.combine(one.since, datetime.time(), datetime.UTC)
            retired.append(Retired(id=public.id, since=since, why=one.why))
            keys.append(public)  # known, so that its signature is called by its name
    return Trust(
        keys=tuple(keys), problems=tuple(problems), expects=expects or bool(held or gone), retired=tuple(retired)
    )


def named(text: str, folder: Path) -> Named:
    """Return the key that a text is, or the path from ``folder`` that it names.

    Raises:
        KeyFileError: it begins as a key does, and is none.
    """
    return key.parse_public(text) if text.startswith(key.WRITTEN) else folder / text


def trusted(reader: Keys, table: dict[str, object], where: str, root: Path) -> tuple[Named, ...]:
    """Read a list of keys out of the settings."""
    texts = reader.texts(table, where)
    return tuple(found for text in texts if (found := _given(reader, text, where, root)) is not None)


def revoked(reader: Keys, root: Path, entry: dict[str, object], where: str) -> Revoked | None:
    """Read one key that is revoked out of the settings."""
    found = _given(reader, reader.text(entry, f"{where}.key"), where, root)
    since, why = reader.date(entry, f"{where}.since"), reader.text(entry, f"{where}.why")
    return None if found is None else Revoked(key=found, since=since, why=why)


def _given(reader: Keys, text: str, where: str, root: Path) -> Named | None:
    try:
        return named(text, root)
    except AffidavitError as error:
        reader.complaints.append(f"{where}: {str(error).partition(chr(10))[0]}")
        return None


def _read(held: Iterable[Named], problems: list[str]) -> Iterator[PublicKey]:
    for one in held:
        try:
            yield one if isinstance(one, PublicKey) else key.read_public(one)
        except AffidavitError as error:
            problems.append(str(error).partition("\n")[0])
