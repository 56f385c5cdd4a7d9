"""What a cache key is made of, kept whole: a digest alone can say that something moved, never what.

Two pre-images held against each other say in words why a hit hit and why a miss missed.

Source: anchors-mechanisms C1; "a digest's name records every parameter that changes the output".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from affidavit.fact.errors import AffidavitError, refusal

VERSION = 1
"""Of the form of the key. It is part of every digest: a better form must not meet what a worse one stored."""
MOST_SHOWN = 200
IRRELEVANT = "irrelevant"
"""The kind of a part that somebody left out by name; its digest never moves, its ``shown`` is the reason."""


class KeyRefusedError(AffidavitError):
    """A part of the key cannot be computed, so there is no key: nothing may be cached under the rest of it."""


class PreimageShapeError(AffidavitError):
    """A stored pre-image is not one that we wrote."""


def canonical(value: Any) -> bytes:
    """Return the one JSON text of a value: keys sorted, no spaces, floats as Python repeats them, NaN refused."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass(frozen=True)
class Part:
    """One input of the key: what kind it is, its name, the digest of its content, and some words for a reader."""

    kind: str
    name: str
    digest: str
    shown: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Preimage:
    """All parts of a key, sorted; equal parts in any order are the same pre-image."""

    parts: tuple[Part, ...]
    digest: str = field(init=False, compare=False)
    """Over the kind, name and digest of every part; the words shown may change and the key must not."""

    def __post_init__(self) -> None:
        parts = tuple(sorted(self.parts, key=lambda part: (part.kind, part.name)))
        names = [(part.kind, part.name) for part in parts]
        twice = sorted({f"{kind} {name}" for kind, name in names if names.count((kind, name)) > 1})
        if twice:
            raise PreimageShapeError(f"pre-image: expected each part once, saw {', '.join(twice)} again.")
        object.__setattr__(self, "parts", parts)
        said = [VERSION, [[part.kind, part.name, part.digest] for part in parts]]
        object.__setattr__(self, "digest", digest_of(canonical(said)))

    def to_json(self) -> dict[str, Any]:
        rows = [
            {"kind": part.kind, "name": part.name, "digest": part.digest, "shown": part.shown} for part in self.parts
        ]
        return {"version": VERSION, "digest": self.digest, "parts": rows}

    @classmethod
    def from_json(cls, data: Any) -> Preimage:
        """Return a stored pre-image; one whose digest is not that of its parts is refused."""
        try:
            parts = tuple(Part(row["kind"], row["name"], row["digest"], row["shown"]) for row in data["parts"])
            version, digest = data["version"], data["digest"]
            texts = [text for part in parts for text in (part.kind, part.name, part.digest, part.shown)]
        except (KeyError, TypeError) as error:
            raise PreimageShapeError(_not_ours(f"no {error}")) from error
        if version != VERSION:
            raise PreimageShapeError(_not_ours(f"version {version!r}"))
        if not all(isinstance(text, str) for text in texts):
            raise PreimageShapeError(_not_ours("a part that is not text"))
        found = cls(parts)
        if found.digest != digest:
            raise PreimageShapeError(_not_ours(f"digest {digest!r} over parts that give {found.digest}"))
        return found

    def of_kind(self, kind: str) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.kind == kind)


def _not_ours(saw: str) -> str:
    return refusal(
        subject="pre-image",
        expected=f"one that Affidavit wrote (version {VERSION})",
        saw=saw,
        means="Nothing can be said of what the entry was built with.",
        action="Build the entry again.",
        unaffected="other entries",
    )


@dataclass(frozen=True)
class PartChange:
    """One part that two pre-images do not share; ``None`` where a side has no such part."""

    before: Part | None
    after: Part | None

    @property
    def kind(self) -> str:
        return self._part.kind

    @property
    def name(self) -> str:
        return self._part.name

    @property
    def _part(self) -> Part:
        found = self.before or self.after
        assert found is not None
        return found

    @property
    def says(self) -> str:
        """The change in words: ``global enc.MASK was ['a'], is ['a', 'b']``."""
        if self.before is None:
            return f"{self._part} is new: {_words(self._part)}"
        if self.after is None:
            return f"{self._part} is gone: it was {_words(self._part)}"
        if self.before.shown == self.after.shown:
            return f"{self._part} changed ({_short(self.before.digest)} to {_short(self.after.digest)})"
        return f"{self._part} was {_words(self.before)}, is {_words(self.after)}"

    def __str__(self) -> str:
        return self.says


def differ(before: Preimage, after: Preimage) -> tuple[PartChange, ...]:
    """Return every part that moved between two pre-images, sorted; empty where they are one key."""
    old = {(part.kind, part.name): part for part in before.parts}
    new = {(part.kind, part.name): part for part in after.parts}
    moved = [key for key in sorted({*old, *new}) if _digest(old.get(key)) != _digest(new.get(key))]
    return tuple(PartChange(old.get(key), new.get(key)) for key in moved)


def same(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return parts with repeats of one and the same part taken once."""
    return tuple(dict.fromkeys(parts))


def shown(text: str) -> str:
    """Return text as a part shows it: one line, cut at its limit, secrets taken out."""
    from affidavit.attach.redact import redact

    line = " ".join(redact(text[: 4 * MOST_SHOWN]).split())
    return line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN]}…"


def _digest(part: Part | None) -> str | None:
    return part.digest if part else None


def _short(digest: str) -> str:
    return digest.rpartition(":")[2][:12]


def _words(part: Part) -> str:
    return part.shown or _short(part.digest)
