"""Loss masks as policies: small frozen things that say which parts of a chat nothing is learned from.

A policy's content is part of the key and what it covered is a fact of the entry, so that neither can be told of rows
that were made without it.

Source: silent-failure-corpus L1; the seed's case: an assistant that writes the user's lines teaches the model to do so.
Blind to: what a policy does not look for; ``Role`` trusts the roles.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from affidavit.cache.encoding.chat import Chat, Chats, ChatShapeError, refused
from affidavit.cache.key import preimage_of
from affidavit.cache.preimage import Part, canonical, digest_of, shown

FORM = 1
"""Of the policies here: what one does by the same fields may change with it."""
IGNORED = -100
_FIRST_ROWS = 64
Span = tuple[int, int]


class Policy(Protocol):
    """Says which spans of a chat's text are not trained on; frozen, and the same again from the same content."""

    name: ClassVar[str]

    def said(self) -> Mapping[str, Any]:
        """Return its content as plain data: all that its spans depend on, besides the chat."""
        ...

    def masked(self, chat: Chat) -> Iterable[Span]: ...


@dataclass(frozen=True)
class Role:
    """Only what these roles say is trained on, each turn with the token that ends it; the template's words are not."""

    train: tuple[str, ...] = ("assistant",)
    name: ClassVar[str] = "role"

    def said(self) -> Mapping[str, Any]:
        return {"train": sorted(self.train)}

    def masked(self, chat: Chat) -> Iterator[Span]:
        at = 0
        for turn in chat.turns:
            if turn.role in self.train:
                yield at, turn.begin
                at = turn.close
        yield at, len(chat.text)


@dataclass(frozen=True)
class Turns:
    """Of the turns of these roles only the first or the last few are trained on."""

    last: int = 0
    first: int = 0
    roles: tuple[str, ...] = ("assistant",)
    name: ClassVar[str] = "turn"

    def said(self) -> Mapping[str, Any]:
        return {"last": self.last, "first": self.first, "roles": sorted(self.roles)}

    def masked(self, chat: Chat) -> Iterator[Span]:
        theirs = [turn for turn in chat.turns if turn.role in self.roles]
        for place, turn in enumerate(theirs):
            if place >= self.first and place < len(theirs) - self.last:
                yield turn.begin, turn.close


@dataclass(frozen=True)
class Between:
    """What stands between two marks is not trained on, and neither are the marks: ``<think>`` and ``</think>``."""

    begin: str
    end: str
    roles: tuple[str, ...] = ("assistant",)
    name: ClassVar[str] = "span"

    def said(self) -> Mapping[str, Any]:
        return {"begin": self.begin, "end": self.end, "roles": sorted(self.roles)}

    def masked(self, chat: Chat) -> Iterator[Span]:
        for turn in chat.turns:
            at = turn.content.find(self.begin) if turn.role in self.roles else -1
            while at >= 0:
                stop = turn.content.find(self.end, at + len(self.begin))
                stop = len(turn.content) if stop < 0 else stop + len(self.end)
                yield turn.span(at, stop)
                at = turn.content.find(self.begin, stop)


@dataclass(frozen=True)
class Regex:
    """What a pattern matches in what these roles say is not trained on."""

    pattern: str
    flags: int = 0
    roles: tuple[str, ...] = ("assistant",)
    name: ClassVar[str] = "regex"

    def said(self) -> Mapping[str, Any]:
        return {"pattern": self.pattern, "flags": int(self.flags), "roles": sorted(self.roles)}

    def masked(self, chat: Chat) -> Iterator[Span]:
        pattern = re.compile(self.pattern, self.flags)
        for turn in chat.turns:
            if turn.role in self.roles:
                yield from (turn.span(*found.span()) for found in pattern.finditer(turn.content))


@dataclass(frozen=True)
class Impersonation:
    """A turn in which the assistant writes somebody else's lines is not trained on, to its end.

    A line counts that begins with one of the names and a colon, in any case and behind any blanks and stars.
    """

    names: tuple[str, ...] = ("User", "Human")
    roles: tuple[str, ...] = ("assistant",)
    name: ClassVar[str] = "impersonation"

    def said(self) -> Mapping[str, Any]:
        return {"names": sorted({name.casefold() for name in self.names}), "roles": sorted(self.roles)}

    def masked(self, chat: Chat) -> Iterator[Span]:
        names = "|".join(re.escape(name) for name in sorted(self.names, key=len, reverse=True))
        if not names:
            return
        line = re.compile(rf"^[\s*>]*(?:{names})[\s*]*:", re.IGNORECASE | re.MULTILINE)
        for turn in chat.turns:
            if turn.role in self.roles and line.search(turn.content):
                yield turn.begin, turn.close


@dataclass(frozen=True)
class Custom:
    """What a function of your own says: (number of the message, begin, end) of spans of its content.

    The function counts in the key by its code and all that this reaches.
    """

    function: Callable[[Sequence[Mapping[str, Any]]], Iterable[tuple[int, int, int]]]
    name: ClassVar[str] = "custom"

    def said(self) -> Mapping[str, Any]:
        return {"function": preimage_of(self.function).digest}

    def masked(self, chat: Chat) -> Iterator[Span]:
        numbers = [number for number, message in enumerate(chat.messages) if message.get("content")]
        turns = dict(zip(numbers, chat.turns))
        for number, start, stop in self.function(chat.messages):
            if number in turns:
                yield turns[number].span(start, stop)


def parts_of(masks: Sequence[Policy]) -> tuple[Part, ...]:
    """Return what of a key policies are; their order says nothing, because a token is masked by any of them."""
    said = sorted((mask.name, canonical(mask.said())) for mask in masks)
    names = [name for name, _ in said]
    parts = []
    for place, (name, content) in enumerate(said):
        again = names[:place].count(name)
        called = f"{name} {again + 1}" if again else name
        parts.append(Part("mask", called, digest_of(canonical([FORM, name]) + content), shown(content.decode())))
    return tuple(parts)


@dataclass
class Coverage:
    """What policies covered: by name, how many tokens in how many rows, and the first of these rows."""

    tokens: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    first: dict[str, list[int]] = field(default_factory=dict)

    def add(self, name: str, row: int, tokens: int) -> None:
        self.tokens[name] = self.tokens.get(name, 0) + tokens
        self.rows[name] = self.rows.get(name, 0) + bool(tokens)
        first = self.first.setdefault(name, [])
        if tokens and len(first) < _FIRST_ROWS:
            first.append(row)

    def facts(self) -> dict[str, Any]:
        return {
            name: {"tokens": self.tokens[name], "rows": self.rows[name], "first": self.first[name]}
            for name in sorted(self.tokens)
        }


class Masker:
    """Puts policies on encoded chats."""

    def __init__(self, masks: Sequence[Policy], tokenizer: Any) -> None:
        self._masks = tuple(masks)
        self._chats = Chats(tokenizer)
        self.coverage = Coverage()

    def labels(
        self,
        chats: Sequence[Sequence[Mapping[str, Any]]],
        ids: Sequence[Sequence[int]],
        labels: Sequence[Sequence[int]] | None,
        *,
        row: int,
    ) -> list[list[int]]:
        """Return the labels of some rows: those given, or the tokens, with ``-100`` wherever a policy masks.

        Args:
            chats: the messages of each row.
            ids: the tokens that the function made of it.
            labels: those that it made, if it made any.
            row: the number of the first row.
        """
        read = [self._chats.read(messages, row=row + place) for place, messages in enumerate(chats)]
        found = self._chats.tokens([chat.text for chat in read])
        made = []
        for place, (chat, (tokens, offsets)) in enumerate(zip(read, found)):
            own = list(ids[place])
            begin, end = _aligned(tokens, own, row + place)
            made.append(list(labels[place]) if labels is not None else own)
            self._mask(made[-1], chat, offsets[begin:end], row + place)
        return made

    def _mask(self, labels: list[int], chat: Chat, offsets: Sequence[Span], row: int) -> None:
        starts, stops = [start for start, _ in offsets], [stop for _, stop in offsets]
        for name, masks in self._named():
            hit: set[int] = set()
            for mask in masks:
                for start, stop in mask.masked(chat):
                    if stop > start:
                        hit.update(range(bisect_right(stops, start), bisect_left(starts, stop)))
            self.coverage.add(name, row, len(hit))
            for place in hit:
                labels[place] = IGNORED
        labels[len(offsets) :] = [IGNORED] * (len(labels) - len(offsets))

    def _named(self) -> Iterator[tuple[str, list[Policy]]]:
        for name in dict.fromkeys(mask.name for mask in self._masks):
            yield name, [mask for mask in self._masks if mask.name == name]


def _aligned(tokens: list[int], own: list[int], row: int) -> tuple[int, int]:
    """Return which of the template's tokens a row holds: all, those that a length left, or all and padding after."""
    if own[: len(tokens)] == tokens:
        return 0, len(tokens)
    if own == tokens[: len(own)]:
        return 0, len(own)
    if own and own == tokens[-len(own) :]:
        return len(tokens) - len(own), len(tokens)
    raise ChatShapeError(refused(f"row {row}", "the tokens of the chat template", str(own[:12])))
