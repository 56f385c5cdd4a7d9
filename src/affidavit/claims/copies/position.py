"""Where a byte of a text stands in its characters, and which characters of it are somebody else's.

A file of ten thousand old numbers is read once: nothing is counted again from its beginning for each of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class Positions:
    """Characters and lines before a byte; who asks in order pays for each byte once."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._byte = self._character = 0
        self._line = 1

    def of(self, byte: int) -> tuple[int, int]:
        """Return the character at which a byte begins, and its line, from 1.

        Args:
            byte: the first one of a character.
        """
        if byte < self._byte:
            self._byte, self._character, self._line = 0, 0, 1
        between = self._raw[self._byte : byte]
        self._character += len(between.decode("utf-8", "surrogateescape"))
        self._line += between.count(b"\n")
        self._byte = byte
        return self._character, self._line


class Spans:
    """Parts of a text, which may lie in each other."""

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, at: int) -> bool:
        found = bisect_right(self._starts, at)
        return found > 0 and at < self._ends[found - 1]
