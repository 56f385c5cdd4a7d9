"""What code says to people, its comments and docstrings, where everything else of it is blank."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path
from typing import Final

from affidavit.lint.references.headings import lines_of
from affidavit.lint.references.targets import LARGEST_BYTES

_HINT: Final = re.compile(
    rb"\.(?:md|markdown|rst)[`)\]]*,?\s(?:\xc2\xa7|[Ss]ec|SEC)|(?:\xc2\xa7|[Ss]ec|SEC)[^\n]{1,99}\.(?:md|markdown|rst)\b"
)
"""Most code names no section of a document, and need not be taken apart."""
_NAMES: Final = (b".md", b".markdown", b".rst")
"""Most names no document at all, and plain text is found ten times as fast as an expression."""
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.M)
_STARTS: Final = frozenset({tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})
"""A string behind one of these is a statement by itself: a docstring, or what is read as one."""
_PASSED: Final = frozenset({tokenize.NL, tokenize.COMMENT})


def said_in(path: Path) -> str:
    """Return the comments and docstrings of a file that names a document, each where it stands; else nothing.

    Blind to: languages whose comments begin with something else than "#".
    """
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_BYTES)
    except OSError:
        return ""
    if not any(name in raw for name in _NAMES) or not _HINT.search(raw):
        return ""
    text = lines_of(raw.decode("utf-8", "replace"))
    spans = _python(text) if path.suffix == ".py" else None
    if spans is None:
        spans = [found.span() for found in _COMMENT.finditer(text)]
    kept: list[str] = []
    at = 0
    for start, end in spans:
        kept += (_blank(text[at:start]), text[start:end])
        at = end
    return "".join((*kept, _blank(text[at:])))


def _python(text: str) -> list[tuple[int, int]] | None:
    """Return where the comments and docstrings of Python stand; None where it is none."""
    begins = [0, *(found.end() for found in re.finditer("\n", text))]
    spans: list[tuple[int, int]] = []
    before = tokenize.ENCODING
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and before in _STARTS):
                (first, left), (last, right) = token.start, token.end
                spans.append((begins[first - 1] + left, begins[last - 1] + right))
            before = before if token.type in _PASSED else token.type
    except (tokenize.TokenError, SyntaxError):
        return None
    return spans


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
