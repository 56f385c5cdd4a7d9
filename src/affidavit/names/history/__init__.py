"""Names that were taken once and what became of them; names whose meaning moved. Data, with a source for every row.

It says what a diff of signatures cannot: what to write instead. Whether a name is taken is never read from here: only
the installed signature is evidence of that.
"""

from __future__ import annotations

from affidavit.names.history.arguments import ROWS as _ARGUMENTS
from affidavit.names.history.loading import ROWS as _LOADING
from affidavit.names.history.meaning import ROWS as _MEANING
from affidavit.names.history.row import Family, Gone, Semantic, order
from affidavit.names.history.tuning import ROWS as _TUNING

__all__ = ["GONE", "MEANINGS", "Family", "Gone", "Semantic", "changes", "order", "said_of"]

GONE: tuple[Gone, ...] = (*_TUNING, *_ARGUMENTS, *_LOADING)
MEANINGS: tuple[Semantic, ...] = _MEANING


def said_of(callee: str, name: str) -> str:
    """Return what became of a name that a callable does not take, "" where nothing is known of it.

    ``removed by transformers 5.15.0; now warmup_steps below 1, a share of all steps``
    """
    return next((row.said() for row in GONE if row.name == name and row.family.has(callee)), "")


def changes(package: str, old: str, new: str) -> tuple[Semantic, ...]:
    """Return what changes its meaning on the way from one version of a package to another, in either direction."""
    first, last = sorted((order(old), order(new)))
    return tuple(row for row in MEANINGS if row.package == package and first < order(row.since) <= last)
