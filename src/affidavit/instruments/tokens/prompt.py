"""Whether rows continue the prompt that the chat template writes when it asks for an answer.

A template that opens an answer otherwise than its rows do (a thought that only inference begins) lets a model train
on a context that it will never see. Only what the template writes is compared; contents are never rendered again.

Source: silent-failure-corpus D3. Blind to: text between the beginning of a row and its first turn; a template that
writes no prompt of its own; what an inference engine adds to the prompt.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from affidavit.attach.tokenizer import Tokenizer
from affidavit.instruments.tokens.turns import Marker, Run, asking

PREFIX, DIFFERS = "prefix", "differs"
NO_TEMPLATE, NO_PROMPT, NO_TURNS = "no template", "no prompt", "no turns"


class Prompt:
    """What the template writes behind a user's message to ask for an answer, held against what rows have there."""

    def __init__(self, written: str, closes: str, answered: str) -> None:
        self._written = written
        self._closes = closes
        self._answered = answered
        self._rows = self._held = 0
        self._differs = ""

    @classmethod
    def of(cls, tokenizer: Tokenizer, known: Sequence[Marker]) -> Prompt | None:
        """Return what to hold rows against; None where there is no template."""
        user = next((marker for marker in known if marker.role == "user"), None)
        prompt = asking(tokenizer)
        return cls(prompt[0], user.closes, prompt[1]) if prompt is not None and user is not None else None

    def hold(self, pieces: Sequence[str], found: Sequence[Run]) -> None:
        """Hold one row against the prompt, at each answer to a user."""
        self._rows += 1
        if not self._written or self._differs:
            return
        text = "".join(pieces)
        turns = [run for run in found if run.turn >= 0]
        for asked, answer in pairwise(turns):
            if asked.role != "user" or answer.role != "assistant":
                continue
            self._held += 1
            begin = _before(text, asked.end, self._closes if asked.closed else "")
            if not text.startswith(self._written, begin):
                self._differs = self._where(text, begin, pieces)
                return

    def told(self) -> tuple[str, str]:
        """Return what was found, and what it rests on; a template of which no row shows an answer speaks for itself."""
        if not self._rows:
            return NO_TURNS, "no row was written in turns"
        if not self._written:
            return NO_PROMPT, "the chat template writes nothing to ask for an answer"
        if self._differs:
            return DIFFERS, self._differs
        if not self._held and not self._answered.startswith(self._written):
            return DIFFERS, "the chat template itself answers otherwise than it asks"
        return PREFIX, f"{self._held} answers behind {self._written!r:.80}"

    def _where(self, text: str, begin: int, pieces: Sequence[str]) -> str:
        same = next(at for at, letter in enumerate(self._written) if text[begin + at : begin + at + 1] != letter)
        token = bisect_right(list(accumulate(map(len, pieces))), begin + same)
        return f"at token {token} the prompt goes on {self._written[same:]!r:.60}, and the row does not"


def _before(text: str, end: int, closes: str) -> int:
    """Return where a closing mark, written without white space, begins that ends at ``end``; skip what is blank."""
    left = len(closes)
    while left and end:
        end -= 1
        left -= not text[end].isspace()
    while not closes and end < len(text) and text[end].isspace():
        end += 1
    return end
