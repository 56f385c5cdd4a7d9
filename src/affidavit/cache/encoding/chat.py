"""Where the words of each message lie in the text that a chat template makes, and in its tokens.

The template is asked once more with a mark in the place of each content; what stands between the marks is the
template's own. So no message is looked for by its words, which may well be those of the template.

Source: the chat templates of the tokenizer; offsets of its fast backend.
Blind to: a template that rewrites what it is given; such a chat is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affidavit.cache.preimage import canonical
from affidavit.fact.errors import AffidavitError, refusal

_MARK = "\ue000{}\ue001"
_MOST_SHAPES = 4096


class ChatShapeError(AffidavitError):
    """It cannot be told which tokens are whose, so no mask can be put on them."""


@dataclass(frozen=True)
class Turn:
    """One message in the text: its content from ``begin`` to ``end``, and to ``close`` with the token that ends it.

    ``shift`` is how much of the content the template left out at its front.
    """

    role: str
    content: str
    begin: int
    end: int
    close: int
    shift: int = 0

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Return a span of the content as one of the text."""
        begin, end = self.begin + start - self.shift, self.begin + stop - self.shift
        return max(begin, self.begin), min(end, self.end)


@dataclass(frozen=True)
class Chat:
    """A chat as its template writes it."""

    messages: Sequence[Mapping[str, Any]]
    text: str
    turns: tuple[Turn, ...]


class Chats:
    """Reads chats with one tokenizer; what a template puts around the same roles is asked once."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self._shapes: dict[bytes, list[str]] = {}
        self._closing = tuple(
            sorted(
                {
                    *map(str, getattr(tokenizer, "all_special_tokens", ())),
                    *(str(token) for token in getattr(tokenizer, "added_tokens_decoder", {}).values() if token.special),
                },
                key=len,
                reverse=True,
            )
        )

    def read(self, messages: Sequence[Mapping[str, Any]], *, row: int) -> Chat:
        """Return where each message lies.

        Raises:
            ChatShapeError: the template does more to a content than take blanks from its sides.
        """
        text = self.tokenizer.apply_chat_template(messages, tokenize=False)
        turns = self._turns(text, [message for message in messages if message.get("content")], self._pieces(messages))
        if turns is None:
            raise ChatShapeError(refused(f"row {row}", "a text in which each message stands as it was given", text))
        return Chat(messages, text, turns)

    def _turns(self, text: str, spoken: Sequence[Mapping[str, Any]], pieces: Sequence[str]) -> tuple[Turn, ...] | None:
        if len(pieces) != len(spoken) + 1 or not text.startswith(pieces[0]):
            return None
        at, turns = len(pieces[0]), []
        for message, after in zip(spoken, pieces[1:]):
            content = message["content"]
            kept = next((one for one in _forms(content) if text.startswith(one + after, at)), None)
            if kept is None:
                return None
            end = at + len(kept)
            closing = next((token for token in self._closing if token and after.startswith(token)), "")
            role, shift = str(message.get("role", "")), content.find(kept)
            turns.append(Turn(role, content, at, end, end + len(closing), shift))
            at = end + len(after)
        return tuple(turns) if at == len(text) else None

    def tokens(self, texts: list[str]) -> list[tuple[list[int], list[tuple[int, int]]]]:
        """Return for each text its tokens, and where each lies in the text."""
        if not getattr(self.tokenizer, "is_fast", False):
            kind = type(self.tokenizer).__name__
            raise ChatShapeError(refused("tokenizer", "a fast one, which says where its tokens lie", kind))
        made = self.tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True)
        return list(zip(made["input_ids"], made["offset_mapping"]))

    def _pieces(self, messages: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return what the template writes before, between and behind the contents."""
        marked, count = [], 0
        for message in messages:
            if message.get("content"):
                if not isinstance(message["content"], str):
                    kind = type(message["content"]).__name__
                    raise ChatShapeError(refused("content of a message", "text", kind))
                marked.append({**message, "content": _MARK.format(count)})
                count += 1
            else:
                marked.append(dict(message))
        shape = canonical(marked)
        if shape not in self._shapes:
            rest = self.tokenizer.apply_chat_template(marked, tokenize=False)
            pieces = []
            for number in range(count):
                piece, _, rest = rest.partition(_MARK.format(number))
                pieces.append(piece)
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            self._shapes[shape] = [*pieces, rest]
        return self._shapes[shape]


def _forms(content: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((content, content.strip(), content.rstrip(), content.lstrip())))


def refused(subject: str, expected: str, saw: str) -> str:
    return refusal(
        subject=subject,
        expected=f"{expected} (masks)",
        saw=repr(saw[:80]),
        means="Whose tokens are whose is not known, so no mask can be put on them.",
        action="Mask in your own function, and name what it masks by in covers=.",
        unaffected="rows that are encoded without masks",
    )
