"""The local store: one folder for each key, an entry in it where ``entry.json`` is, and otherwise nothing.

A shard is put under a name that holds its own digest, then a line that says it is finished, and at the very end, once,
``entry.json`` that names all of them. So whoever was killed leaves finished shards for the next one, two builders of
one key come to one entry, and a reader sees all of an entry or none.

Source: hf-stack-spike §5; silent-failure-corpus L1.
Blind to: bits that rot while a file's times stay, unless every read is checked (``check="always"``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from affidavit.cache.preimage import Preimage, canonical
from affidavit.cache.store import entry as entries
from affidavit.cache.store.entry import Entry, Shard
from affidavit.cache.store.place import Place
from affidavit.fact.errors import AffidavitError, refusal

VARIABLE = "AFFIDAVIT_CACHE"
"""The environment variable that says where the store is, where nobody else does."""
CHECKS = ("stat", "always", "never")
"""How a shard is checked on a read: ``stat`` reads its bytes again where the file's identity, size or times moved."""
_ENTRY = "entry.json"
_PLAN = "plan.json"
_FINISHED = "finished-"
_ROOT_MARKS = ("affidavit.toml", "affidavit.lock", ".git")
_ASIDE = "quarantine"
_CHECKED = "checked"
_LOCKS = "locks"
SEEN = "seen"
TRACED = "traced"
_SHARED = ("", _CHECKED, SEEN, TRACED)
"""Folders in which anybody writes at any time."""
_DAY_SECONDS = 86_400.0


class StoreError(AffidavitError):
    """An entry could not be written or read."""


class Store:
    """Entries in one folder, for any number of processes.

    Args:
        root: the folder; None for :func:`default_folder`.
        check: one of :data:`CHECKS`.
    """

    def __init__(self, root: str | Path | None = None, *, check: str = "stat") -> None:
        if check not in CHECKS:
            raise StoreError(
                refusal(
                    subject="check",
                    expected=" or ".join(CHECKS),
                    saw=repr(check),
                    means="How shards are to be checked is not known.",
                    action="Name one of these.",
                    unaffected="what is stored",
                )
            )
        self.place = Place(Path(root).absolute() if root is not None else default_folder())
        self.check = check

    def find(self, key: str) -> Entry | None:
        """Return the entry of a key, or None where there is none, or none that can be believed."""
        name = f"{_hex(key)}/{_ENTRY}"
        data = self.place.read(name)
        if data is None:
            return None
        entry = entries.read(data, self.place.path(_hex(key)))
        if entry is None or entry.key != key:
            self.place.set_aside(name, f"{_ASIDE}/{_hex(key)}.entry")
            return None
        return entry

    def entries(self) -> Iterator[Entry]:
        """Yield every entry, the latest last."""
        keys = [name for name in self.place.names() if len(name) == 64]
        found = [entry for entry in (self.find(f"sha256:{key}") for key in keys) if entry is not None]
        yield from sorted(found, key=lambda entry: entry.written)

    def damaged(self, entry: Entry) -> tuple[Shard, ...]:
        """Return the shards of an entry that are not what was written, by the store's mode of checking."""
        if self.check == "never":
            return tuple(shard for shard in entry.shards if entries.state_of(entry.folder / shard.name) is None)
        name = f"{_CHECKED}/{_hex(entry.key)}"
        known = entries.decoded(self.place.read(name)) if self.check == "stat" else {}
        seen: dict[str, list[int]] = {}
        bad: list[Shard] = []
        for shard in entry.shards:
            path = entry.folder / shard.name
            state = entries.state_of(path)
            if state is not None and (known.get(shard.name) == state or entries.holds(path, shard)):
                seen[shard.name] = state
            else:
                bad.append(shard)
        if seen != known:
            with suppress(OSError):  # a store that may only be read is checked each time
                self.place.put(name, canonical(seen))
        return tuple(bad)

    def whole(self, key: str) -> tuple[Entry | None, tuple[str, ...]]:
        """Return the entry of a key if each of its shards is what was written, and where damaged ones were put.

        An entry with a damaged shard is taken back; its other shards stay, for whoever builds it next.
        """
        entry = self.find(key)
        if entry is None or not self.damaged(entry):
            return entry, ()
        with self.place.lock(f"{_LOCKS}/{_hex(key)}"):
            entry = self.find(key)  # somebody else may have mended it while this process waited
            bad = self.damaged(entry) if entry is not None else ()
            return (None, self._retract(entry, bad)) if entry is not None and bad else (entry, ())

    def _retract(self, entry: Entry, damaged: tuple[Shard, ...]) -> tuple[str, ...]:
        """The entry goes first: a reader must not meet one that names what is gone."""
        key = _hex(entry.key)
        self.place.set_aside(f"{key}/{_ENTRY}", f"{_ASIDE}/{key}.entry")
        aside = []
        for shard in damaged:
            self.place.forget(f"{key}/{_finished(shard.at)}")
            aside.append(self.place.set_aside(f"{key}/{shard.name}", f"{_ASIDE}/{key}.{shard.name}"))
        return tuple(str(self.place.path(name)) for name in aside if name)

    @contextmanager
    def building(self, preimage: Preimage) -> Iterator[Build]:
        """Give the building site of a key; whoever else builds it waits where the file system can hold a lock."""
        key = _hex(preimage.digest)
        if not self.place.has(".gitignore"):
            self.place.put_new(".gitignore", b"*\n")
        with self.place.lock(f"{_LOCKS}/{key}") as held:
            if held is not None:
                self.place.sweep(key)
            for shared in _SHARED:
                self.place.sweep(shared, older=_DAY_SECONDS)
            yield Build(self, preimage, held)


class Build:
    """The building site of one key: shards that are finished, and the entry that makes them one.

    ``lock`` is the descriptor that holds the key; a child of this process closes it and goes on without.
    """

    def __init__(self, store: Store, preimage: Preimage, lock: int | None) -> None:
        self.store, self.preimage, self.lock = store, preimage, lock
        self._key = _hex(preimage.digest)
        self._place = store.place

    @property
    def entry(self) -> str:
        """The name of the entry, where there is one."""
        return f"{self._key}/{_ENTRY}"

    def planned(self, make: Callable[[], Mapping[str, Any]], names: Collection[str]) -> dict[str, Any]:
        """Return how the work is cut into shards: as whoever began it said, so that what is finished still fits."""
        name = f"{self._key}/{_PLAN}"
        said = entries.decoded(self._place.read(name))
        if said.keys() == set(names):
            return said
        for old in self._place.names(self._key):
            self._place.forget(old)
        self._place.put_new(name, canonical(make()))
        return entries.decoded(self._place.read(name))

    def finished(self, *, check: bool = True) -> dict[int, Shard]:
        """Return the shards that are there and, where they are checked, are what their builder wrote."""
        found: dict[int, Shard] = {}
        for name in self._place.names(self._key):
            last = name.rpartition("/")[2]
            if not last.startswith(_FINISHED):
                continue
            shard = entries.shard_of(entries.decoded(self._place.read(name)))
            if shard is not None and (not check or entries.holds(self._place.path(f"{self._key}/{shard.name}"), shard)):
                found[shard.at] = shard
            else:
                self._place.set_aside(name, f"{_ASIDE}/{self._key}.{last}")
        return found

    @contextmanager
    def shard(self, at: int, *, made_of: int, suffix: str = "arrow") -> Iterator[Draft]:
        """Give a file to write one shard to; it is finished when the block ends well."""
        with self._place.writing(f"{self._key}/shard-{at:05d}.{suffix}") as part:
            draft = Draft(part)
            yield draft
            digest = entries.content_of(part)
            name = f"shard-{at:05d}-{digest.rpartition(':')[2][:16]}.{suffix}"
            row = {"at": at, "name": name, "digest": digest, "size": part.stat().st_size, "rows": draft.rows}
            self._place.publish(part, f"{self._key}/{name}", over=True)
            line = {**row, "made_of": made_of, "facts": draft.facts}
            self._place.put(f"{self._key}/{_finished(at)}", canonical(line))

    def publish(self, shards: tuple[Shard, ...], *, form: str, facts: Mapping[str, Any]) -> Entry:
        """Make shards an entry, and return the one that is found from now on: another builder's where it was first."""
        self._place.put_new(self.entry, entries.written(self.preimage, shards, form=form, facts=facts))
        entry = self.store.find(self.preimage.digest)
        if entry is None:
            raise StoreError(
                refusal(
                    subject=f"entry {self._key[:12]}",
                    expected="the one that was written a moment ago",
                    saw=f"none in {self._place.root}",
                    means="Somebody removes what this process stores.",
                    action="Give each user a store.",
                    unaffected="the rows themselves",
                )
            )
        if self.lock is not None:
            self._tidy(entry)
        return entry

    def _tidy(self, entry: Entry) -> None:
        """Remove a slower builder's shards, and note that the others were whole a moment ago."""
        named = {shard.name for shard in entry.shards}
        for name in self._place.names(self._key):
            last = name.rpartition("/")[2]
            if last.startswith("shard-") and last not in named:
                self._place.forget(name)
        states = {shard.name: entries.state_of(entry.folder / shard.name) for shard in entry.shards}
        self._place.put(f"{_CHECKED}/{self._key}", canonical(states))


@dataclass
class Draft:
    """A shard that is being written: its file, and what is said of it once it is."""

    path: Path
    rows: int = 0
    facts: dict[str, Any] = field(default_factory=dict)


def default_folder() -> Path:
    """Return where entries lie when nobody says: what the environment names, else the project's own folder."""
    if named := os.environ.get(VARIABLE):
        return Path(named).absolute()
    here = Path.cwd()
    root = next((at for at in (here, *here.parents) if any((at / mark).exists() for mark in _ROOT_MARKS)), here)
    return root / ".affidavit" / "cache"


def _hex(key: str) -> str:
    return key.rpartition(":")[2]


def _finished(at: int) -> str:
    return f"{_FINISHED}{at:05d}.json"
