"""A place in a text that carries the id of a claim, and where beside it the number may stand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

MARKDOWN, PYTHON, COMMENTS, NOTEBOOK = "markdown", "python", "comments", "notebook"
"""How a text carries an id: in links and comment pairs, in comments found by Python's own tokenizer, after a ``#``, or
in cells of which each does as one of these.
"""
_KINDS: Final = {
    MARKDOWN: (".md", ".markdown", ".mdx", ".qmd", ".rmd", ".html", ".htm", ".rst", ".txt"),
    PYTHON: (".py", ".pyi", ".pyx"),
    NOTEBOOK: (".ipynb",),
    COMMENTS: (
        *(".sh", ".bash", ".zsh", ".slurm", ".sbatch", ".job", ".pbs", ".env", ".mk", ".tf"),
        *(".yaml", ".yml", ".toml", ".cfg", ".ini", ".conf"),
    ),
}
_BY_SUFFIX: Final = {suffix: kind for kind, suffixes in _KINDS.items() for suffix in suffixes}
_BY_NAME: Final = frozenset({"makefile", "dockerfile", "justfile", "snakefile", "containerfile"})


@dataclass(frozen=True, order=True)
class Span:
    """From one character of a text up to another, as a slice has it."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True, kw_only=True)
class Place:
    """An id, and the spans in which its number may stand, the likeliest first.

    ``is_code`` says of each span that a bare number in it is program text. ``is_bound`` says that the span is the
    number and nothing else, as a link is, so that a bare one counts, too. ``comment`` is what stands before the id of a
    comment. ``problem`` is what keeps a place from being read, "" where nothing does. ``is_sentence`` says that it may
    be no id at all, as in "the claim: it works", so that it is one only where something has its name.
    """

    claim: str
    claim_at: Span
    spans: tuple[Span, ...]
    is_code: tuple[bool, ...]
    is_bound: bool = False
    comment: str = ""
    problem: str = ""
    is_sentence: bool = False


def kind_of(path: PurePath, first_line: str = "") -> str:
    """Return how a file carries ids, "" where it carries none.

    Args:
        first_line: of a file without a suffix, which its interpreter may stand in.
    """
    found = _BY_SUFFIX.get(path.suffix.lower(), "")
    if found or path.suffix:
        return found
    if first_line.startswith("#!"):
        return PYTHON if "python" in first_line else COMMENTS
    return COMMENTS if path.name.lower() in _BY_NAME else ""
