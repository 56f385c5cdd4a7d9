"""Who said which token of a row, found from the tokens alone by what the chat template writes around each turn.

Pure functions over ids and text; the instrument of tokens feeds them.

Source: hf-stack-spike §4; DESIGN §7 (the terminator of a turn comes from the rendered template).
White space counts for nothing: a token decoded alone often lacks its own.

Blind to: a turn whose heading was cut off by truncation (its tokens count as "template"), a system message that a
template writes without a heading (it counts as what it stands in), and content that quotes the headings themselves.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from affidavit.attach.tokenizer import Tokenizer

TEMPLATE = "template"
TEXT = "text"
_MARKS = {role: f"zq{role}qz" for role in ("system", "user", "assistant", "again", "last")}
_HEADINGS = (("user", "system"), ("User", "System"), ("USER", "SYSTEM"))


@dataclass(frozen=True)
class Marker:
    """How a template opens and closes a turn of one role, without white space; ``space`` belongs to the opening."""

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

    Conversations of marked contents are rendered, and what stands between two marks is taken apart. What follows a
    message also when it is the last closes it; the rest opens the next. A role may open in more than one way: some
    templates write the last answer otherwise.
    """
    talk = [("user", "user"), ("assistant", "assistant"), ("user", "again"), ("assistant", "last")]
    rendered = _render(tokenizer, talk)
    if rendered is None:
        return ()
    alone = {"user": _render(tokenizer, talk[:1]), "assistant": _render(tokenizer, talk[:2])}
    closes = {
        role: _closing(_after(alone[role], role), _between(rendered, role, following))
        for role, following in (("user", "assistant"), ("assistant", "again"))
    }
    found: dict[tuple[str, str], Marker] = {}
    for (left_role, left), (role, right) in pairwise(talk):
        between = _between(rendered, left, right)
        opens = _squeezed(between).removeprefix(closes[left_role]) or _squeezed(between)
        found[role, opens] = Marker(role, opens, closes[role], _trailing_space(between))
    system = _render(tokenizer, [("system", "system"), ("user", "user")])
    opening = _system_opening(system, alone["user"] or "", [marker.opens for marker in found.values()])
    if system is not None and opening:
        user = next(marker for marker in found.values() if marker.role == "user")
        between = _between(system, "system", "user")
        closing = _squeezed(between).removesuffix(user.opens)
        space = _trailing_space(system.partition(_MARKS["system"])[0])
        found["system", opening] = Marker("system", opening, closing, space)
        if user.opens not in _squeezed(between) and closing:
            found["user", closing] = Marker("user", closing, user.closes, _trailing_space(between))
    return tuple(marker for marker in found.values() if marker.opens)


def _render(tokenizer: Tokenizer, talk: Sequence[tuple[str, str]]) -> str | None:
    """Return marked contents as the template writes them; None where it does not write them all, and in order."""
    rendered = tokenizer.render([(role, _MARKS[mark]) for role, mark in talk])
    if rendered is None:
        return None
    at = [rendered.find(_MARKS[mark]) for _, mark in talk]
    return rendered if at == sorted(at) and at[0] >= 0 else None


def asking(tokenizer: Tokenizer) -> tuple[str, str] | None:
    """Return what the template writes behind a user's content to ask for an answer, and what where there is one.

    Both without white space in front. The first is "" where it writes the same when it does not ask; None where it
    has no template.
    """
    talk = [("user", _MARKS["user"])]
    alone, asked = tokenizer.render(talk), tokenizer.render(talk, asks=True)
    if alone is None or asked is None or _MARKS["user"] not in asked:
        return None
    answered = tokenizer.render([*talk, ("assistant", _MARKS["assistant"])])
    return "" if asked == alone else _after(asked, "user").lstrip(), _after(answered, "user").lstrip()


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _after(rendered: str | None, mark: str) -> str:
    return rendered.partition(_MARKS[mark])[2] if rendered else ""


def _between(rendered: str, left: str, right: str) -> str:
    return _after(rendered, left).partition(_MARKS[right])[0]


def _trailing_space(text: str) -> str:
    return text[len(text.rstrip()) :]


def _closing(at_the_end: str, in_between: str) -> str:
    """Return what follows a message both at the end of a conversation and inside of it, in whole marks."""
    length = next(
        (place for place, (one, other) in enumerate(zip(at_the_end, in_between)) if one != other),
        min(len(at_the_end), len(in_between)),
    )
    shared = at_the_end[:length]
    if length < min(len(at_the_end), len(in_between)):
        whole = re.match(r".*[\s>\]]", shared, re.DOTALL)
        shared = whole[0] if whole else ""
    return _squeezed(shared)


def _system_opening(system: str | None, user_alone: str, openings: Sequence[str]) -> str:
    """Return the heading of a system message, "" where it has none of its own."""
    if system is None:
        return ""
    before = _squeezed(system.partition(_MARKS["system"])[0])
    for opening in openings:
        for user, heading in _HEADINGS:
            candidate = opening.replace(user, heading)
            if candidate != opening and candidate in before:
                return candidate
    without = _squeezed(user_alone.partition(_MARKS["user"])[0])
    length = next((place for place, (one, other) in enumerate(zip(before, without)) if one != other), len(without))
    return before[length:] if length == len(without) else ""


@dataclass(frozen=True)
class Run:
    """Neighbouring tokens of one turn, or of the template between two: the places ``first`` to ``stop`` of a row.

    ``begin`` and ``end`` are the letters of the turn. A turn that is ``closed`` ends in its last token.
    """

    role: str
    turn: int
    first: int
    stop: int
    closed: bool = False
    begin: int = 0
    end: int = 0


def runs(pieces: Sequence[str], known: Sequence[Marker]) -> list[Run]:
    """Return the runs of one row in order, padding already removed.

    A turn reaches from behind its opening to the end of its closing mark, which belongs to it: a model that never
    learns the closing mark never stops.
    """
    reached = list(accumulate(map(len, pieces)))
    starts = [0, *reached[:-1]]
    turns = _turns("".join(pieces), known)
    if not turns:
        return [Run(TEXT, 0, 0, len(pieces))] if pieces else []
    found: list[Run] = []
    at = 0
    for turn, (begin, end, role, closed) in enumerate(turns):
        first = max(at, bisect_right(reached, begin))
        stop = max(first, bisect_left(starts, end))
        if first > at:
            found.append(Run(TEMPLATE, -1, at, first))
        if stop > first:
            found.append(Run(role, turn, first, stop, closed, begin, end))
        at = stop
    if at < len(pieces):
        found.append(Run(TEMPLATE, -1, at, len(pieces)))
    return found


def places(pieces: Sequence[str], known: Sequence[Marker]) -> list[Place]:
    """Return the role and turn of each token of one row, padding already removed."""
    return placed(runs(pieces, known))


def placed(found: Sequence[Run]) -> list[Place]:
    """Return the place of each token of these runs."""
    row: list[Place] = []
    for run in found:
        row += [Place(run.role, run.turn)] * (run.stop - run.first)
        if run.closed:
            row[-1] = Place(run.role, run.turn, ends=True)
    return row


def _turns(text: str, known: Sequence[Marker]) -> list[tuple[int, int, str, bool]]:
    """Return ``(begin, end, role, closed)`` of each turn in order, by letter."""
    words = [(word.start(), word[0]) for word in re.finditer(r"\S+", text)]
    squeezed = "".join(word for _, word in words)
    before = list(accumulate((len(word) for _, word in words), initial=0))

    def letter(at: int) -> int:
        word = bisect_right(before, at) - 1
        return words[word][0] + at - before[word]

    spans: list[tuple[int, int, str, bool]] = []
    opening = _next_opening(squeezed, 0, known)
    while opening is not None:
        at, marker = opening
        inside = at + len(marker.opens)
        following = _next_opening(squeezed, inside, known)
        limit = following[0] if following else len(squeezed)
        # What closes a turn may also be what opens the next.
        closing = squeezed.find(marker.closes, inside, limit + len(marker.closes)) if marker.closes else -1
        end = closing + len(marker.closes) if closing >= 0 else limit
        begin = letter(inside - 1) + 1
        if marker.space and text.startswith(marker.space, begin):
            begin += len(marker.space)
        stop = letter(end - 1) + 1 if closing >= 0 or following else len(text)
        if stop > begin or closing >= 0:
            spans.append((begin, max(begin, stop), marker.role, closing >= 0))
        opening = _next_opening(squeezed, max(inside, min(end, limit)), known)
    return spans


def _next_opening(text: str, position: int, known: Sequence[Marker]) -> tuple[int, Marker] | None:
    """Return the heading that comes next; of two that begin at one place, the longer."""
    found = [(at, -len(marker.opens), marker) for marker in known if (at := text.find(marker.opens, position)) >= 0]
    if not found:
        return None
    at, _, marker = min(found, key=lambda hit: hit[:2])
    return at, marker
