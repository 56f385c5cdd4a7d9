"""Banners of corrections in documents: what was corrected, which correction they speak of, and which were taken out.

A banner is three lines that ``affidavit correct`` inserted. A document is known by the digest of what it is without.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from affidavit.fact.folder import ANNOTATIONS, CORRECTIONS
from affidavit.lint.references.earlier import revisions, texts, top_of
from affidavit.lint.references.headings import fenced
from affidavit.lint.references.reference import Broken, Reference
from affidavit.lint.references.targets import LARGEST_BYTES, Targets
from affidavit.observe.error import ObserveError

WORDS: Final = "affidavit:correction"
_END: Final = r"(?:\r\n|[\r\n])"
_BLOCK: Final = re.compile(
    rf"{_END}<!-- {WORDS} ([0-9a-f]{{12}}) #(\d{{1,9}}) -->{_END}[^\r\n]*{_END}<!-- /{WORDS} -->(?=[\r\n]|\Z)"
)
_SHOWN: Final = 12
"""How much of a digest a banner shows."""


def blocks(text: str) -> Iterator[re.Match[str]]:
    """Yield the banners of a document; one in a fenced block is an example of one."""
    if WORDS not in text:
        return
    code = [*fenced(re.sub(r"\r(?!\n)", "\n", text))]
    for block in _BLOCK.finditer(text):
        if not any(start <= block.start() < end for start, end in code):
            yield block


def without(text: str) -> str:
    """Return a document as it was before any banner was inserted."""
    kept, last = "", 0
    for block in blocks(text):
        kept, last = kept + text[last : block.start()], block.end()
    return kept + text[last:]


def read_banners(path: Path, text: str, targets: Targets) -> Iterator[Reference]:
    """Yield the banners of a document, each as a reference to the chain of its correction."""
    for block in blocks(text):
        line = text.count("\n", 0, block.start()) + 2
        yield _banner(path, line, targets.correction(path.parent, block[1]), int(block[2]))


def said_of(banner: Reference) -> str:
    """Say what is wrong with a banner; nothing where its correction is there."""
    number = int(banner.anchor[1:])
    is_there = number <= _count(banner.target)
    return "" if is_there else f"no correction #{number} of {banner.target.name:.{_SHOWN}} in {CORRECTIONS}"


def taken_out(paths: Iterable[Path], targets: Targets) -> Iterator[Broken]:
    """Yield the banners that a version before of a document had, and that this one has not, though it says the same.

    Blind to: a document that was edited as well, as its correction is of what it said before; what stood before it was
        renamed; a folder that is in no repository.
    """
    for path in paths:
        corrections = targets.corrections(path.parent)
        top = top_of(path.parent)
        if corrections is None or top is None:
            continue
        text = path.read_bytes()[:LARGEST_BYTES].decode("utf-8", "surrogateescape")
        digest = hashlib.sha256(without(text).encode("utf-8", "surrogateescape")).hexdigest()
        chain = corrections / digest
        standing = {int(block[2]) for block in blocks(text) if digest.startswith(block[1])}
        missing = set(range(1, _count(chain) + 1)) - standing
        for number in sorted(missing and missing & _once(path, top, digest)):
            said = "it was taken out, and what it corrects still stands"
            yield Broken(_banner(path, 1, chain, number), said)


def _once(path: Path, top: Path, digest: str) -> set[int]:
    """Return the numbers of the corrections of which the versions before of a document had a banner."""
    name = path.relative_to(top).as_posix()
    try:
        held = texts(top, ((revision, name) for revision in revisions(top, [name]).get(name, ())))
    except ObserveError:
        return set()
    return {int(block[2]) for text in held.values() for block in blocks(text) if digest.startswith(block[1])}


def _banner(path: Path, line: int, chain: Path, number: int) -> Reference:
    return Reference(path, line, f"{WORDS} {chain.name:.{_SHOWN}} #{number}", chain, f"#{number}")


def _count(chain: Path) -> int:
    try:
        return (chain / ANNOTATIONS).read_bytes().count(b"\n")
    except OSError:
        return 0
