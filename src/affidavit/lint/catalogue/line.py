"""The order in which Python looks at the bases of a class, of which some may be no text."""

from __future__ import annotations

from affidavit.lint.catalogue.thing import Class, Opaque


def merged(lines: list[tuple[Class | Opaque, ...]]) -> list[Class | Opaque]:
    """The linearisation that Python uses (C3); where it has none, the bases as they stand."""
    pending = [list(line) for line in lines if line]
    found: list[Class | Opaque] = []
    while pending := [line for line in pending if line]:
        head = next(
            (line[0] for line in pending if not any(_in(line[0], other[1:]) for other in pending)), pending[0][0]
        )
        found.append(head)
        pending = [[one for one in line if not _same(one, head)] for line in pending]
    return found


def _in(one: Class | Opaque, others: list[Class | Opaque]) -> bool:
    return any(_same(one, other) for other in others)


def _same(one: Class | Opaque, other: Class | Opaque) -> bool:
    if isinstance(one, Class) and isinstance(other, Class):
        return one.dotted == other.dotted
    return one == other
