"""One step of a shell script, and what lies around it: enough of the tree to say what becomes of an exit code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

SEQUENCES = frozenset({"script", "group", "subshell", "substitution", "body"})
"""Steps whose parts run one after the other."""
_STATUS = re.compile(r"\$\?|\$\{\?|PIPESTATUS")


@dataclass(eq=False, kw_only=True)
class Step:
    """A part of a script.

    Args:
        kind: command, test, pipeline, and, or, not, if, loop, case, function, declare, assign, or a sequence.
        line: counted from 1 in the text.
        text: as it is written.
        words: of a command, quotes removed and nothing expanded.
        raw: the same words with their quotes.
        role: what it is to its parent: condition, body, else, argument, value.
        name: of a function or of a variable; of a declaration its word.
        place: which of its parent's parts it is.
        is_background: whether ``&`` follows it.
        errexit, pipefail: whether the options are on where it stands, as far as the file says; None where unknown.
    """

    kind: str
    line: int
    text: str
    words: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    role: str = ""
    name: str = ""
    is_background: bool = False
    place: int = 0
    parent: Step | None = None
    parts: list[Step] = field(default_factory=list)
    errexit: bool | None = False
    pipefail: bool | None = False

    def walk(self) -> Iterator[Step]:
        """Yield this step and all within it, in the order of the text."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def above(self) -> Iterator[Step]:
        """Yield what holds this step, the nearest first."""
        here = self.parent
        while here is not None:
            yield here
            here = here.parent

    @property
    def following(self) -> list[Step]:
        """Return what stands after this step in its own sequence."""
        if self.parent is None:
            return []
        return self.parent.parts[self.place + 1 :]

    @property
    def next(self) -> Step | None:
        after = self.place + 1
        return self.parent.parts[after] if self.parent is not None and after < len(self.parent.parts) else None

    @property
    def reads_status(self) -> bool:
        return bool(_STATUS.search(self.text))

    @property
    def function(self) -> Step | None:
        """Return the function in whose body it stands."""
        return next((one for one in self.above() if one.kind == "function"), None)

    @property
    def is_in_substitution(self) -> bool:
        return any(one.kind == "substitution" for one in self.above())
