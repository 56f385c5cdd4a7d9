"""What a file of the project asks of a callable by name: the one thing that every reader makes, whatever it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Given:
    """One name as it was written, and where.

    ``value`` is source text, shortened, "" where it is no literal. ``inside`` are the names of a mapping that is given
    as the value; ``is_open`` says that there may be more of them.
    """

    name: str
    path: Path
    line: int
    value: str = ""
    inside: tuple[Given, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, kw_only=True)
class Request:
    """The names that one place gives to one callable.

    Args:
        callee: dotted, as the file imports it: ``transformers.TrainingArguments``,
            ``transformers.AutoModel.from_pretrained``.
        given: every name that surely reaches the call; what may be popped, filtered or left out is not here. A call
            that gives no names is a request as well.
        origin: ``script``, ``config`` or ``launcher``: the kind of file the names stand in.
        via: how they reach the callee, where that is not the call itself: "sft.yaml, parsed in train.py:12".
        guard: why a name that is not taken would do no harm there ("inside except TypeError"); it is not judged then.
        is_open: more names may reach it than are given: a mapping that is not wholly known is spread into the call.
        positional: how many values it is given by their place.
    """

    callee: str
    given: tuple[Given, ...]
    path: Path
    line: int
    origin: str = "script"
    via: str = ""
    guard: str = ""
    is_open: bool = False
    positional: int = 0


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A file or a place of it that a reader could not read, and why, in the reader's words."""

    path: Path
    line: int
    why: str


@dataclass(frozen=True, kw_only=True)
class Field:
    """A name that is declared and read by nobody, or read as something else than it says.

    ``kind`` is one of :data:`KINDS`; ``said`` is the sentence for a person.
    """

    path: Path
    line: int
    name: str
    kind: str
    said: str


KINDS = {
    "unread": "a field that is parsed and that no code reads",
    "bool": "type=bool: any text is true, also False",
    "dropped": "a key that its parser drops without a word",
    "text": "a number that YAML keeps as text",
    "twice": "a key that stands twice: the last one wins",
    "late": "an attribute that is set after construction and that nothing reads",
}


def flat(given: tuple[Given, ...]) -> Iterator[Given]:
    """Yield every name, those of nested mappings behind the one that holds them."""
    for one in given:
        yield one
        yield from flat(one.inside)
