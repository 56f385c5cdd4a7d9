"""What one call is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from affidavit.lint.scripts.value import Constant, Names, Value


@dataclass
class Arguments:
    """Positional values and names; ``has_star`` and ``is_open`` say that more may come with ``*`` and ``**``.

    ``is_partial`` says that others were given before, or will be later; ``hides`` that a dict that is spread into the
    call was followed and may hold more.
    """

    positional: tuple[Value, ...] = ()
    names: Names = field(default_factory=dict)
    has_star: bool = False
    is_open: bool = False
    is_partial: bool = False
    hides: bool = False

    @property
    def may_be_more(self) -> bool:
        """Whether more names may reach the call than are known."""
        return self.has_star or self.is_open or self.is_partial or self.hides

    def values(self) -> Iterator[Value]:
        """Yield every value, with or without a name."""
        yield from self.positional
        for entry in self.names.values():
            yield entry.value

    def is_true(self, name: str) -> bool:
        """Whether a name is given as the literal True."""
        entry = self.names.get(name)
        return entry is not None and isinstance(entry.value, Constant) and entry.value.value is True

    def is_false(self, name: str) -> bool:
        """Whether a name is given as the literal False."""
        entry = self.names.get(name)
        return entry is not None and isinstance(entry.value, Constant) and entry.value.value is False

    def text(self, name: str, place: int = -1) -> str:
        """Return the text that is given by name or at a place, "" where it is no literal."""
        value = self.names[name].value if name in self.names else None
        if value is None and 0 <= place < len(self.positional):
            value = self.positional[place]
        return value.value if isinstance(value, Constant) and isinstance(value.value, str) else ""
