"""The lit tokens: which of them the loss is computed on, shown in the text they came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from affidavit.case import Case
from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Known
from affidavit.fact.term import UNSTATED
from affidavit.fact.values import Table
from affidavit.record.compare import display
from affidavit.report.known import added
from affidavit.report.terminal import Line, Span, Tone, line

LIT = ("⟦", "⟧")
"""Stand around lit text in every drawing, so that a page without colour says the same."""
_EDGE = 48
"""Characters of a long dark stretch that stay on each side of its fold."""
_LIT_EDGE = 240
_LIT_FIRST, _LIT_LAST = 6, 2
"""Lit turns of a row that are drawn: a packed row has hundreds, and all of them look alike."""
_TURNS_APART = 8
_ABOUT = {"template": "what the chat template adds"}
_BAR = 16
_COUNTED = ("tokens", "supervised", "closed", "ends")
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


def unseen(case: Case) -> str:
    """Say why nothing can be said of the tokens that carry the loss."""
    if any(fact.was is not None for fact in case.facts("tokens.supervised_by_role")):
        return "what was seen of the tokens that carry the loss fell with a correction"
    return "which tokens carry the loss was not seen"


def headline(case: Case) -> Iterator[Line]:
    """Yield how many tokens of each role carry the loss, over all ranks that were seen.

    The turns of a role are told one by one only where they are not treated alike.
    """
    asked = [value for _, value in case.values("tokens.supervision_requested")]
    lit, seen = added(case, "tokens.supervised_by_role"), added(case, "tokens.seen_by_role")
    if lit is None or seen is None:
        yield line(unseen(case), head=Span("tokens", Tone.STRONG), indent=_INDENT)
        return
    said = "unknown" if not asked else "nothing" if asked[0] == UNSTATED else display(asked[0])
    yield line(
        Span(f"{lit.total:,} of {seen.total:,} tokens carry the loss", Tone.STRONG),
        f"; the script asked for: {said}",
    )
    turns = _turns(case)
    width = len(f"{max(count for _, count in seen.counts):,}")
    for role, tokens in seen.counts:
        of_role = [turn for turn in turns if turn.role == role]
        yield _share(Turn(role=role, tokens=tokens, lit=lit[role]), of_role, width)
        if len({turn.lit / turn.tokens for turn in of_role if turn.tokens}) > 1:
            yield from _apart(of_role, width)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Tokens of one role, or of one turn of it, over all ranks: how many, how many lit, and ends of turn alike."""

    role: str
    tokens: int
    lit: int
    number: int = -1
    closed: int = 0
    ends: int = 0


def _turns(case: Case) -> list[Turn]:
    """Return the turns of the sampled step, added up over ranks."""
    found: dict[tuple[int, str], list[int]] = {}
    for fact in case.facts("tokens.supervised_by_turn"):
        if isinstance(fact.state, Known) and isinstance(fact.state.value, Table):
            for row in fact.state.value.records(turn=int, role=str, **dict.fromkeys(_COUNTED, int)):
                sums = found.setdefault((int(row["turn"]), str(row["role"])), [0] * len(_COUNTED))
                for place, name in enumerate(_COUNTED):
                    sums[place] += int(row[name]) * max(len(fact.ranks), 1)
    return [
        Turn(number=number, role=role, tokens=tokens, lit=lit, closed=closed, ends=ends)
        for (number, role), (tokens, lit, closed, ends) in found.items()
    ]


def _share(share: Turn, turns: list[Turn], width: int) -> Line:
    """Return one bar: whose tokens, how many of them are lit, and whether they learn to stop."""
    shown = f"{share.lit:>{width},} of {share.tokens:>{width},}  "
    filled = -(-_BAR * share.lit // share.tokens) if share.tokens else 0
    closed, ends = sum(turn.closed for turn in turns), sum(turn.ends for turn in turns)
    stops = f"{ends:,} of {closed:,} ends of turn" if closed else _ABOUT.get(share.role, "")
    name = share.role if share.number < 0 else f"  turn {share.number}"
    return line(
        f"{name:<{_ROLE}}  {shown}",
        Span("█" * filled, Tone.GOOD),
        Span("░" * (_BAR - filled), Tone.FAINT),
        Span(f"  {stops}" if stops else "", Tone.FAINT),
        indent=2,
    )


def _apart(turns: list[Turn], width: int) -> Iterator[Line]:
    for turn in turns[:_TURNS_APART]:
        yield _share(turn, [turn], width)
    if len(turns) > _TURNS_APART:
        rest = turns[_TURNS_APART:]
        lit, tokens = sum(turn.lit for turn in rest), sum(turn.tokens for turn in rest)
        yield line(Span(f"and {len(rest)} more turns, {lit:,} of {tokens:,} tokens lit", Tone.FAINT), indent=4)


def rows(spans: Spans, *, limit: int, full: bool = False) -> Iterator[Line]:
    """Yield the first ``limit`` rows, a line for each turn; what is far from lit text is folded unless ``full``.

    A fold says how much it hides. Spaces, new lines and special tokens are shown, because a label on a
    missing end-of-turn looks like nothing at all.

    Blind to: what a token id means, where only ids were kept; a terminal that draws right-to-left text in the order
    in which it is stored.
    """
    if spans.policy == "off":
        yield line('the tokens themselves were not kept: tokens = "off"')
        return
    yield line()
    yield line(Span(f"{LIT[0]}lit{LIT[1]}", Tone.LIT), Span(" carries the loss, the rest is only read", Tone.FAINT))
    for row in spans.rows[:limit]:
        yield line()
        yield line(Span(f"row {row.number}", Tone.STRONG))
        turns = [tuple(group) for _, group in groupby(row.stretches, key=lambda one: (one.turn, one.role))]
        for shown, group in groupby(zip(_shown_turns(turns, full=full), turns), key=lambda pair: pair[0]):
            if shown:
                yield from (_turn(stretches, full=full) for _, stretches in group)
            else:
                yield _fold([stretches for _, stretches in group])
    hidden = len(spans.rows) - limit
    if hidden > 0:
        yield line()
        yield line(Span(f"{hidden} more rows: --rows {len(spans.rows)}", Tone.FAINT))


def _shown_turns(turns: Sequence[Sequence[Stretch]], *, full: bool) -> list[bool]:
    """Say which turns of a row are drawn: the first and last lit ones, each with the turns that frame it."""
    lit = [place for place, stretches in enumerate(turns) if any(stretch.lit for stretch in stretches)]
    ends = {0, len(turns) - 1}
    near = {place + step for place in (*lit[:_LIT_FIRST], *lit[-_LIT_LAST:]) for step in (-1, 0, 1)} | ends
    shown = [full or place in near for place in range(len(turns))]
    # A fold that hides a single turn saves nothing.
    return [
        here or (0 < place < len(turns) - 1 and shown[place - 1] and shown[place + 1])
        for place, here in enumerate(shown)
    ]


def _fold(turns: Sequence[Sequence[Stretch]]) -> Line:
    hidden = [stretch for stretches in turns for stretch in stretches]
    tokens, lit = sum(one.tokens for one in hidden), sum(one.tokens for one in hidden if one.lit)
    return line(Span(f"[… {len(turns)} stretches, {lit:,} of {tokens:,} tokens lit …]", Tone.FAINT), indent=_INDENT)


def _turn(stretches: Sequence[Stretch], *, full: bool) -> Line:
    turn, role = stretches[0].turn, stretches[0].role
    body: list[Span] = []
    for stretch in stretches:
        shown = _shown(stretch, full=full)
        body.append(Span(f"{LIT[0]}{shown}{LIT[1]}", Tone.LIT) if stretch.lit else Span(shown, Tone.FAINT))
    return line(*body, head=Span(f"{turn if turn >= 0 else '':>2} {role[:_ROLE]}", Tone.FAINT), indent=_INDENT)


def _shown(stretch: Stretch, *, full: bool) -> str:
    if not stretch.text:
        return " ".join(map(str, stretch.ids if full else _ends(stretch.ids))) or f"({stretch.tokens} tokens)"
    text = visible(stretch.text)
    edge = _LIT_EDGE if stretch.lit else _EDGE
    if full or len(text) <= 2 * edge:
        return text
    return f"{text[:edge]} [… {len(text) - 2 * edge:,} more characters of {stretch.tokens:,} tokens …] {text[-edge:]}"


def visible(text: str) -> str:
    """Return text in which a new line and a tab are seen."""
    return text.replace("\r", "␍").replace("\n", "⏎").replace("\t", "⇥")


def _ends(ids: Iterable[int]) -> tuple[int | str, ...]:
    kept = tuple(ids)
    if len(kept) <= 24:
        return kept
    return (*kept[:8], f"[… {len(kept) - 16:,} more …]", *kept[-8:])
