"""Who said which token of a row, found from the tokens alone by what the chat template writes around each turn.

Pure functions over ids and text; the instrument of tokens feeds them.

Source: hf-stack-spike §4; DESIGN §7 (the terminator of a turn comes from the rendered template).
Blind to: a turn whose markers were cut off by truncation (its tokens count as "template"), and content that quotes
the markers themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from affidavit.attach.tokenizer import Tokenizer

TEMPLATE = "template"
TEXT = "text"
_ROLES = ("system", "user", "assistant")
_MARKS = {role: f"zq{role}qz" for role in ("system", "user", "assistant", "again", "last")}


@dataclass(frozen=True)
class Marker:
    """How a template opens and closes a turn of one role; ``space`` is the white space that belongs to the opening."""

    role: str
    opens: str
    closes: str
    space: str = ""


@dataclass(frozen=True)
class Place:
    """A token's role and the position of its turn in the row; -1 outside of turns. ``ends`` marks a turn's end."""

    role: str
    turn: int
    ends: bool = False


def markers(tokenizer: Tokenizer) -> tuple[Marker, ...]:
    """Return how the tokenizer's chat template writes each role; empty where it has no template.

    A conversation of marked contents is rendered, and what stands between the marks is taken apart: what follows a
    lone message closes it, the rest before the next content opens that.
    """
    found: dict[str, Marker] = {}
    closes = {
        "user": _after(tokenizer.render([("user", _MARKS["user"])]), "user"),
        "assistant": _after(
            tokenizer.render([("user", _MARKS["user"]), ("assistant", _MARKS["assistant"])]), "assistant"
        ),
    }
    talk = [("user", "user"), ("assistant", "assistant"), ("user", "again"), ("assistant", "last")]
    rendered = tokenizer.render([(role, _MARKS[mark]) for role, mark in talk])
    if rendered is None or any(_MARKS[mark] not in rendered for _, mark in talk):
        return ()
    for (left_role, left), (role, right) in pairwise(talk):
        between = rendered[rendered.index(_MARKS[left]) + len(_MARKS[left]) : rendered.index(_MARKS[right])]
        closing = closes[left_role].strip()
        opening = between.strip().removeprefix(closing).strip()
        space = between[len(between.rstrip()) :]
        found[role] = Marker(role, opening or between.strip(), closes[role].strip(), space)
    system = tokenizer.render([("system", _MARKS["system"]), ("user", _MARKS["user"])])
    if system is not None and _MARKS["system"] in system:
        before, _, rest = system.partition(_MARKS["system"])
        between = rest.partition(_MARKS["user"])[0].strip()
        closing = between.removesuffix(found["user"].opens).strip()
        opening = before.strip().rpartition("\n")[2] if "\n" in before.strip() else before.strip()
        if opening:
            space = before[len(before.rstrip()) :]
            found["system"] = Marker("system", _shared_opening(opening, found["user"]), closing, space)
    return tuple(found[role] for role in _ROLES if role in found and found[role].opens)


def _shared_opening(opening: str, user: Marker) -> str:
    """Return a system opening without the begin-of-text token that stands before it in the first turn only."""
    head = user.opens.partition("user")[0]
    return opening[opening.rfind(head) :] if head and head in opening else opening


def _after(rendered: str | None, mark: str) -> str:
    return rendered.partition(_MARKS[mark])[2] if rendered else ""


def places(pieces: Sequence[str], known: Sequence[Marker]) -> list[Place]:
    """Return the role and turn of each token of one row, padding already removed.

    A turn reaches from behind its opening to the end of its closing mark, which belongs to it: a model that never
    learns the closing mark never stops.
    """
    starts: list[int] = []
    length = 0
    for piece in pieces:
        starts.append(length)
        length += len(piece)
    text = "".join(pieces)
    spans = _turns(text, known)
    if not spans:
        return [Place(TEXT, 0)] * len(pieces)
    found: list[Place] = []
    current = 0
    for place, start in enumerate(starts):
        end = starts[place + 1] if place + 1 < len(starts) else length
        while current < len(spans) and start >= spans[current][1]:
            current += 1
        inside = current < len(spans) and end > spans[current][0]
        if not inside:
            found.append(Place(TEMPLATE, -1))
            continue
        _, stop, role, closed = spans[current]
        found.append(Place(role, current, ends=closed and end >= stop))
    return found


def _turns(text: str, known: Sequence[Marker]) -> list[tuple[int, int, str, bool]]:
    """Return ``(begin, end, role, closed)`` of each turn in order, by character."""
    spans: list[tuple[int, int, str, bool]] = []
    position = 0
    opening = _next_opening(text, position, known)
    while opening is not None:
        at, marker = opening
        begin = at + len(marker.opens)
        if marker.space and text.startswith(marker.space, begin):
            begin += len(marker.space)
        following = _next_opening(text, begin, known)
        limit = following[0] if following else len(text)
        closing = text.find(marker.closes, begin, limit) if marker.closes else -1
        if closing < 0 and marker.closes and following:
            closing = text.find(marker.closes, begin, limit + len(marker.closes))
        end = closing + len(marker.closes) if closing >= 0 else limit
        spans.append((begin, end, marker.role, closing >= 0))
        opening = _next_opening(text, max(begin, min(end, limit)), known)
    return spans


def _next_opening(text: str, position: int, known: Sequence[Marker]) -> tuple[int, Marker] | None:
    found = [(at, -len(marker.opens), marker) for marker in known if (at := text.find(marker.opens, position)) >= 0]
    if not found:
        return None
    at, _, marker = min(found, key=lambda hit: hit[:2])
    return at, marker
