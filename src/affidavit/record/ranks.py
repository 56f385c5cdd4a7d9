"""A set of ranks as people and files write it: ``0-62,64``."""

from __future__ import annotations

from collections.abc import Iterable

from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import MOST


class RankSetError(AffidavitError):
    """A text is no set of ranks."""


def written(ranks: Iterable[int]) -> str:
    """Return ranks as ranges, sorted, each once; "" for none.

    >>> written((0, 1, 2, 5))
    '0-2,5'
    """
    spans: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if spans and spans[-1][1] + 1 == rank:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def read(text: str) -> tuple[int, ...]:
    """Return the ranks that :func:`written` wrote.

    Raises:
        RankSetError: another text, or more ranks than any job has.
    """
    ranks: list[int] = []
    for span in text.split(",") if text else ():
        first, dash, last = span.partition("-")
        if not (first.isascii() and first.isdigit() and len(first) < 8) or (
            dash and not (last.isascii() and last.isdigit() and len(last) < 8)
        ):
            raise RankSetError(f"ranks: expected 0-2,5, saw {text!r:.80}.")
        ranks.extend(range(int(first), min(int(last or first), MOST) + 1))
        if len(ranks) > MOST:
            raise RankSetError(f"ranks: expected {MOST:,} at most, saw {text!r:.80}.")
    if written(ranks) != text:
        raise RankSetError(f"ranks: expected rising ranges, saw {text!r:.80}.")
    return tuple(ranks)
