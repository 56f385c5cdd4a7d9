"""The tokens that a run kept, read from its folder and held against the digest in its record."""

from __future__ import annotations

import hashlib
from pathlib import Path

from affidavit.case import Case
from affidavit.fact import folder as names
from affidavit.fact.errors import refusal
from affidavit.fact.observation import Unknown
from affidavit.fact.values import Digest
from affidavit.report import tokens
from affidavit.report.tokens import Spans, TokensError

TERM = "tokens.lit_spans"


def kept(folder: Path, case: Case, rank: int) -> Spans | str:
    """Return what one rank kept, or why there is nothing.

    Raises:
        TokensError: the file is there and is not what the record says it was.
    """
    fact = next((fact for fact in case.facts(TERM) if rank in fact.ranks), None)
    if fact is None:
        return f"rank {rank} said nothing of them"
    if isinstance(fact.state, Unknown):
        return f"{fact.state.cause.value} ({fact.state.why})"
    digest = fact.state.value
    assert isinstance(digest, Digest)
    path = folder / names.TOKENS / digest.hex
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return f"{path} is gone"
    if hashlib.sha256(content).hexdigest() != digest.hex:
        raise TokensError(
            refusal(
                subject=f"{path}",
                expected=f"the content that was recorded ({digest})",
                saw="other content",
                means="These are not the rows that this run trained on.",
                action='Run "affidavit show" for the counts, which stand in the sealed record.',
                unaffected="every other fact of the run",
            )
        )
    return tokens.parse(content)
