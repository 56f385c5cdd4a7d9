"""The lit tokens on a page: whose tokens carry the loss, and the sampled rows, folded around what is lit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from affidavit.fact.term import UNSTATED
from affidavit.fact.values import Tally
from affidavit.record.compare import display
from affidavit.report.absence import brief
from affidavit.report.known import added, counted
from affidavit.report.page.dossier import Dossier, Kept
from affidavit.report.tokens import Row as SpansRow
from affidavit.report.tokens import Stretch, unseen, visible

ROWS_OPEN, ROWS = 4, 32
_EDGE, _LIT_EDGE = 120, 1_200
_LONGEST = 20_000
"""Characters of one stretch that stand on a page, folded or not."""
_IDS = 400


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Neighbouring tokens that are all lit or all dark; ``folded`` is its middle, told by how much it is."""

    lit: bool
    head: str
    folded: str = ""
    fold: str = ""
    tail: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """The pieces of one turn; ``number`` is "" for what the template adds between turns."""

    role: str
    number: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a sampled batch."""

    number: int
    about: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What one training's sampled batch shows: counts by role over all ranks, and the rows of one rank."""

    about: str
    total: str
    asked: str
    roles: tuple[tuple[str, str, str, str], ...]
    missing: str
    rows: tuple[Row, ...]
    more: int


def samples(dossier: Dossier) -> tuple[Sample, ...]:
    """Return one sample for each training of which rows were kept or are known to be missing."""
    return tuple(_sample(dossier, kept) for kept in dossier.tokens)


def _sample(dossier: Dossier, kept: Kept) -> Sample:
    case = replace(dossier.statement.case, episode=kept.episode)
    subject = case.subject
    lit, seen = added(case, "tokens.supervised_by_role"), added(case, "tokens.seen_by_role")
    both = (lit, seen) if lit and seen else None
    asked = next((value for _, value in case.values("tokens.supervision_requested")), None)
    parts = [f"rows of rank {kept.rank}" if subject.world > 1 and kept.spans else ""]
    parts.append(f"training {kept.episode + 1} of {subject.episodes}" if subject.episodes > 1 else "")
    rows = kept.spans.rows if kept.spans else ()
    off = kept.spans is not None and not rows
    return Sample(
        about=", ".join(part for part in parts if part),
        total=f"{both[0].total:,} of {both[1].total:,} tokens carry the loss" if both else unseen(case),
        asked="not said" if asked == UNSTATED else "unknown" if asked is None else display(asked),
        roles=() if both is None else tuple(_role(*both, role) for role in both[1].kinds),
        missing="the tokens themselves were not kept" if off else brief(kept.missing),
        rows=tuple(map(_row, rows[:ROWS])),
        more=max(len(rows) - ROWS, 0),
    )


def _role(lit: Tally, seen: Tally, role: str) -> tuple[str, str, str, str]:
    return role, f"{lit[role]:,}", f"{seen[role]:,}", f"{lit[role] / seen[role]:.0%}"


def _row(row: SpansRow) -> Row:
    lit = sum(stretch.tokens for stretch in row.stretches if stretch.lit)
    total = sum(stretch.tokens for stretch in row.stretches)
    turns = groupby(row.stretches, key=lambda stretch: (stretch.turn, stretch.role))
    return Row(
        number=row.number,
        about=f"{lit:,} of {counted(total, 'token')} lit",
        turns=tuple(_turn(turn, role, stretches) for (turn, role), stretches in turns),
    )


def _turn(turn: int, role: str, stretches: Iterable[Stretch]) -> Turn:
    return Turn(role=role, number=str(turn) if turn >= 0 else "", pieces=tuple(_pieces(stretches)))


def _pieces(stretches: Iterable[Stretch]) -> Iterator[Piece]:
    for stretch in stretches:
        if not stretch.text:
            ids = " ".join(map(str, stretch.ids[:_IDS]))
            yield Piece(
                lit=stretch.lit,
                head=ids or f"({counted(stretch.tokens, 'token')})",
                note=f"… and {len(stretch.ids) - _IDS:,} more" if len(stretch.ids) > _IDS else "",
            )
            continue
        text = visible(stretch.text)
        edge = _LIT_EDGE if stretch.lit else _EDGE
        if len(text) <= 3 * edge:
            yield Piece(lit=stretch.lit, head=text)
            continue
        middle = text[edge:-edge]
        told = f"{len(middle):,} more characters of {counted(stretch.tokens, 'token')}"
        kept = middle[:_LONGEST]
        yield Piece(
            lit=stretch.lit,
            head=text[:edge],
            folded=kept,
            fold=told,
            tail=text[-edge:],
            note=f"[… {len(middle) - len(kept):,} characters are not on this page …]" if len(middle) > _LONGEST else "",
        )
