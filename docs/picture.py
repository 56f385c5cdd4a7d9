"""Draws the picture of the README from the README: what ``affidavit tokens`` printed there, in colour.

The printed text is run and compared by the tests, and the picture is compared with the text, so it cannot show what
the command does not say.

    python docs/picture.py      writes docs/lit-tokens.svg
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

DOCS = Path(__file__).parent
PICTURE = DOCS / "lit-tokens.svg"
COMMAND = "$ affidavit tokens"
PRINTED = re.compile(rf"^{re.escape(COMMAND)}[^\n]*\n(.*?)^(?:\$ |```)", re.M | re.S)
PARTS = re.compile(r"(?P<lit>⟦.*?⟧)|(?P<bar>█+)|(?P<hollow>░+)|(?P<plain>[^⟦█░]+)")
ADVANCE, LEADING, MARGIN = 8, 20, 20
"""Pixels of a letter, a row, and the frame."""

STYLE = """
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
    .page { fill: #ffffff; stroke: #d0d7de }
    .plain { fill: #57606a } .strong { fill: #1f2328; font-weight: 600 } .prompt { fill: #0969da }
    .lit { fill: #03220f; font-weight: 600 } .glow { fill: #7ee2a0 } .bar { fill: #2da44e } .hollow { fill: #d8dee4 }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; stroke: #30363d }
      .plain { fill: #9198a1 } .strong { fill: #f0f6fc } .prompt { fill: #58a6ff }
      .glow { fill: #3fb950 } .bar { fill: #3fb950 } .hollow { fill: #262c36 }
    }
"""


def draw(readme: str) -> str:
    """Return the SVG of what the README's command printed.

    Raises:
        ValueError: the README shows no such command.
    """
    found = PRINTED.search(readme)
    if found is None:
        raise ValueError(f"README: expected a block with {COMMAND!r}, saw none.")
    rows = [COMMAND, *found[1].rstrip("\n").split("\n")]
    width = 2 * MARGIN + ADVANCE * max(map(len, rows))
    height = 2 * MARGIN + LEADING * len(rows)
    said = escape(" ".join(found[1].split()), quote=True)
    body = "\n".join(f"  {part}" for number, row in enumerate(rows) for part in _row(row, number))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">\n'
        f"  <title>{escape(COMMAND.removeprefix('$ '))}: {said}</title>\n  <style>{STYLE}  </style>\n"
        f'  <rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
        f"{body}\n</svg>\n"
    )


def _row(row: str, number: int) -> Iterator[str]:
    top = MARGIN + LEADING * number
    for part in PARTS.finditer(row):
        left, kind, text = MARGIN + ADVANCE * part.start(), str(part.lastgroup), part.group()
        width = ADVANCE * len(text)
        if kind in ("bar", "hollow"):
            yield f'<rect class="{kind}" x="{left}" y="{top + 5}" width="{width}" height="11"/>'
            continue
        if kind == "lit":
            yield f'<rect class="glow" x="{left}" y="{top + 1}" width="{width}" height="{LEADING - 2}" rx="3"/>'
        if text.strip():
            begin = len(text) - len(text.lstrip())
            yield _text(text.strip(), left + ADVANCE * begin, top + 15, _class(kind, row, number))


def _class(kind: str, row: str, number: int) -> str:
    if kind == "lit":
        return kind
    return "prompt" if number == 0 else "strong" if number == 1 or row.startswith("row ") else "plain"


def _text(text: str, left: int, base: int, kind: str) -> str:
    """Return text that keeps to the grid in whatever font the reader has."""
    grid = f'textLength="{ADVANCE * len(text)}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"'
    return f'<text class="{kind}" x="{left}" y="{base}" {grid}>{escape(text, quote=False)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(draw((DOCS.parent / "README.md").read_text()))
