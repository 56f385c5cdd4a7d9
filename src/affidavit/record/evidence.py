"""The files beside a manifest: each holds the bytes whose digest is its name, and no other lies among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.record import file
from affidavit.record.key import SHORT
from affidavit.record.manifest import Evidence, Manifest
from affidavit.record.standing import Examined, Standing

SHOWN = 3
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def examine(folder: Path, document: Manifest) -> Iterator[Examined]:
    """Yield how the files stand that the manifest names by their digests, and whatever lies among them.

    One that is gone contradicts nothing: it may have been deleted for good reason. What it said is told by no other.
    """
    for what, is_tokens in ((names.EVIDENCE, False), (names.TOKENS, True)):
        named = [one for one in document.evidence if one.tokens is is_tokens]
        place = folder / what
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            yield Examined(what=what, standing=Standing.BROKEN, said="no plain folder")
            continue
        there = {path.name for path in place.iterdir() if not path.name.startswith(".")} if place.is_dir() else set()
        broken = [said for one in named if (said := _altered(place, one, there))]
        broken += [f"{name[:SHORT]!a} is named by no seal" for name in sorted(there - set(map(_name, named)))]
        gone = sorted(name for name in map(_name, named) if name not in there)
        if broken:
            yield Examined(what=what, standing=Standing.BROKEN, said=_some(broken))
        elif gone:
            yield Examined(
                what=what, standing=Standing.UNCHECKED, said=f"gone: {_some([name[:SHORT] for name in gone])}"
            )
        elif named:
            size = sum(one.bytes for one in named)
            yield Examined(
                what=what, standing=Standing.HOLDS, said=f"{len(named)} file{'s'[: len(named) > 1]}, {size:,} bytes"
            )


def _altered(place: Path, one: Evidence, there: set[str]) -> str:
    """Return what is wrong with a file that is there, or ""."""
    name = _name(one)
    if not _DIGEST.fullmatch(one.digest):
        return f"{one.digest!a:.40} is no digest"
    if name not in there:
        return ""
    try:
        return "" if file.sha256(place / name, limit=one.bytes) == name else f"{name[:SHORT]} holds other bytes"
    except file.FileShapeError as error:
        return f"{name[:SHORT]}: {error}"


def _name(one: Evidence) -> str:
    return one.digest.removeprefix("sha256:")


def _some(said: list[str]) -> str:
    more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    return f"{'; '.join(said[:SHOWN])}{more}"
