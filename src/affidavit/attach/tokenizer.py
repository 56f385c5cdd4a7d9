"""What an instrument may ask of a tokenizer, whichever framework it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Tokenizer(Protocol):
    """A tokenizer as adapters offer it. None of these calls changes the state of the one behind it."""

    @property
    def pad(self) -> int | None:
        """The id that pads rows, if any."""

    @property
    def ends(self) -> frozenset[int]:
        """The ids that end a text; a padding id may be among them."""

    @property
    def begin(self) -> int | None:
        """The id that begins a text, if any."""

    def render(self, messages: Sequence[tuple[str, str]], *, asks: bool = False) -> str | None:
        """Return ``(role, content)`` messages as the chat template writes them; None where it has none or refuses.

        With ``asks`` the text goes on with what asks for an answer.
        """

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return each id's own text, special tokens visible."""

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of a run of ids, special tokens visible."""
