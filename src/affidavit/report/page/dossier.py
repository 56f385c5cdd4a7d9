"""All that a page is drawn of: a judged run, the seal it stands under, and the tokens that were kept."""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.record.manifest import Manifest
from affidavit.report.statement import Statement
from affidavit.report.tokens import Spans


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The rows that one rank kept of one training, or why there are none."""

    rank: int
    episode: int
    spans: Spans | None
    missing: str = ""


@dataclass(frozen=True, kw_only=True)
class Dossier:
    """One sealed run as a page shows it.

    Args:
        digest: of the manifest, under which the run is sealed.
        withheld: how many texts a shared copy keeps back; None where it is no shared copy.
    """

    statement: Statement
    manifest: Manifest
    digest: str
    tokens: tuple[Kept, ...] = ()
    withheld: int | None = None

    @property
    def is_shared(self) -> bool:
        return self.withheld is not None
