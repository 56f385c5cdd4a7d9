"""The lit tokens: which of them the loss is computed on, shown in the text they came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from affidavit.case import Case
from affidavit.fact.errors import AffidavitError
from affidavit.fact.values import Table
from affidavit.record.ranks import written
from affidavit.report.evidence import added
from affidavit.report.terminal import Line, Span, Tone, line

LIT = ("⟦", "⟧")
"""Stand around lit text in every drawing, so that a page without colour says the same."""
_EDGE = 48
"""Characters of a long dark stretch that stay on each side of its fold."""
_LIT_EDGE = 240
_ROLE = len("assistant")
_INDENT = _ROLE + 4


class TokensError(AffidavitError):
    """The kept tokens are of a newer or another format than this version reads."""


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Neighbouring tokens of one turn that are all lit or all dark; ``text`` is empty where only ids were kept."""

    role: str
    turn: int
    lit: bool
    tokens: int
    text: str = ""
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a sampled batch, in reading order, padding left out."""

    number: int
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, kw_only=True)
class Spans:
    """What was kept of the sampled rows under a policy: ``off``, ``ids`` or ``text``."""

    policy: str
    rows: tuple[Row, ...]


def parse(content: bytes) -> Spans:
    """Return the rows that the tokens instrument kept.

    Raises:
        TokensError: not such a file, or one line of it is damaged; the message names the line.
    """
    lines = content.split(b"\n")
    head = _object(lines[0], 1)
    if not {"policy", "rows"} <= set(head):
        raise TokensError(f"kept tokens: expected a first line with policy and rows, saw {sorted(head)}.")
    rows = tuple(_row(_object(raw, number), number) for number, raw in enumerate(lines[1:], 2) if raw.strip())
    return Spans(policy=str(head["policy"]), rows=rows)


def _object(raw: bytes, number: int) -> Mapping[str, object]:
    try:
        found = json.loads(raw)
    except ValueError as error:
        raise TokensError(f"kept tokens, line {number}: expected one JSON object, saw {raw!r:.80}.") from error
    if not isinstance(found, dict):
        raise TokensError(f"kept tokens, line {number}: expected one JSON object, saw {raw!r:.80}.")
    return found


def _row(raw: Mapping[str, object], number: int) -> Row:
    try:
        spans = raw["spans"]
        if not isinstance(spans, list):
            raise TypeError(f"spans are {type(spans).__name__}")
        return Row(number=int(str(raw["row"])), stretches=tuple(_stretch(span) for span in spans))
    except (KeyError, TypeError, ValueError) as error:
        raise TokensError(f"kept tokens, line {number}: expected a row with its spans, saw {error!r}.") from error


def _stretch(raw: Mapping[str, object]) -> Stretch:
    ids = raw.get("ids") or ()
    if not isinstance(ids, (list, tuple)):
        raise TypeError(f"ids are {type(ids).__name__}")
    return Stretch(
        role=str(raw["role"]),
        turn=int(str(raw["turn"])),
        lit=raw["lit"] is True,
        tokens=int(str(raw["tokens"])),
        text=str(raw.get("text") or ""),
        ids=tuple(int(token) for token in ids),
    )


def headline(case: Case) -> Iterator[Line]:
    """Yield how many tokens of each role carry the loss, and of each turn, over all ranks that were seen."""
    asked = [display for _, display in case.values("tokens.supervision_requested")]
    lit, seen = added(case, "tokens.supervised_by_role"), added(case, "tokens.seen_by_role")
    if lit is None or seen is None:
        yield line("which tokens carry the loss was not seen", head=Span("tokens", Tone.STRONG), indent=_INDENT)
        return
    yield line(
        Span(f"{lit.total:,} of {seen.total:,} tokens carry the loss", Tone.STRONG),
        f"; asked to train on: {asked[0] if asked else 'unknown'}",
    )
    for role, tokens in seen.counts:
        share = f"{lit[role]:,} of {tokens:,} tokens of {role} turns are lit"
        yield line(Span(share, Tone.GOOD if lit[role] else Tone.FAINT), indent=2)
    yield from _turns(case)


def _turns(case: Case) -> Iterator[Line]:
    for ranks, table in case.values("tokens.supervised_by_turn"):
        if not isinstance(table, Table):
            continue
        on = f", rank {written(ranks)}" if case.subject.world > 1 else ""
        for row in table.records():
            text = f"turn {row['turn']} {row['role']}: {row['supervised']} of {row['tokens']} tokens lit"
            yield line(Span(f"{text}, {row['ends']} of {row['closed']} ends of turn{on}", Tone.FAINT), indent=2)


def rows(spans: Spans, *, limit: int) -> Iterator[Line]:
    """Yield the first ``limit`` rows, a line for each turn; dark stretches far from lit text are folded.

    The fold says how much it hides. Spaces, new lines and special tokens are shown, because a label on a
    missing end-of-turn looks like nothing at all.

    Blind to: what a token id means, where only ids were kept.
    """
    if spans.policy == "off":
        yield line('the tokens themselves were not kept: tokens = "off"')
        return
    for row in spans.rows[:limit]:
        yield line()
        yield line(Span(f"row {row.number}", Tone.STRONG))
        for (turn, role), stretches in groupby(row.stretches, key=lambda stretch: (stretch.turn, stretch.role)):
            yield _turn(turn, role, tuple(stretches))
    hidden = len(spans.rows) - limit
    if hidden > 0:
        yield line()
        yield line(Span(f"{hidden} more rows: --rows {len(spans.rows)}", Tone.FAINT))


def _turn(turn: int, role: str, stretches: tuple[Stretch, ...]) -> Line:
    body: list[Span] = []
    for stretch in stretches:
        shown = _shown(stretch)
        body.append(Span(f"{LIT[0]}{shown}{LIT[1]}", Tone.LIT) if stretch.lit else Span(shown, Tone.FAINT))
    return line(*body, head=Span(f"{turn if turn >= 0 else '':>2} {role[:_ROLE]}", Tone.FAINT), indent=_INDENT)


def _shown(stretch: Stretch) -> str:
    if not stretch.text:
        return " ".join(map(str, _ends(stretch.ids))) or f"({stretch.tokens} tokens)"
    text = _visible(stretch.text)
    edge = _LIT_EDGE if stretch.lit else _EDGE
    if len(text) <= 2 * edge:
        return text
    return f"{text[:edge]} [… {len(text) - 2 * edge:,} more characters of {stretch.tokens:,} tokens …] {text[-edge:]}"


def _visible(text: str) -> str:
    return text.replace("\r", "␍").replace("\n", "⏎").replace("\t", "⇥")


def _ends(ids: Iterable[int]) -> tuple[int | str, ...]:
    kept = tuple(ids)
    if len(kept) <= 24:
        return kept
    return (*kept[:8], f"[… {len(kept) - 16:,} more …]", *kept[-8:])
