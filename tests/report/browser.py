"""The browser in which a page is opened, and the text of what it prints."""

from __future__ import annotations

import contextlib
import re
import shutil
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
ALONE = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def found() -> str | None:
    """Return where a Chromium of this machine is, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Give a Chromium that asks nobody for anything."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found(), args=list(ALONE))
        yield opened
        opened.close()


def text_of(pdf: bytes) -> str:
    """Return the text that a PDF of Chromium holds, in the order in which it is drawn.

    Source: the shape that Skia writes: a font is named for its object, and each glyph is a number of four digits.
    """
    objects = {int(one[1]): one[2] for one in re.finditer(rb"(\d+) 0 obj\n(.*?)\nendobj", pdf, re.DOTALL)}
    fonts = {}
    for number, content in objects.items():
        mapped = re.search(rb"/ToUnicode (\d+) 0 R", content)
        if mapped:
            fonts[str(number).encode()] = _letters(_stream(objects[int(mapped[1])]))
    said: list[str] = []
    for content in objects.values():
        if b"stream" in content and b"/Subtype" not in content and b"/Length1" not in content:
            said += _drawn(_stream(content), fonts)
    return "".join(said)


def _drawn(page: bytes, fonts: dict[bytes, dict[int, str]]) -> Iterator[str]:
    letters: dict[int, str] = {}
    for one in re.finditer(rb"/F(\d+) [\d.]+ Tf|<([0-9A-F]+)> Tj|\bET\b", page):
        if one[1]:
            letters = fonts.get(one[1], {})
        elif one[2]:
            glyphs = one[2].decode()
            yield "".join(letters.get(int(glyphs[at : at + 4], 16), "?") for at in range(0, len(glyphs), 4))


def _letters(table: bytes) -> dict[int, str]:
    """Return what each glyph of a font stands for."""
    found: dict[int, str] = {}
    for block in re.findall(rb"beginbfchar\n(.*?)endbfchar", table, re.DOTALL):
        for glyph, letters in re.findall(rb"<([0-9A-Fa-f]+)> <([0-9A-Fa-f]+)>", block):
            found[int(glyph, 16)] = _unicode(letters)
    for block in re.findall(rb"beginbfrange\n(.*?)endbfrange", table, re.DOTALL):
        for first, last, letters in re.findall(rb"<([0-9A-Fa-f]+)> <([0-9A-Fa-f]+)> <([0-9A-Fa-f]+)>", block):
            for place in range(int(last, 16) - int(first, 16) + 1):
                found[int(first, 16) + place] = chr(int(letters, 16) + place)
    return found


def _unicode(letters: bytes) -> str:
    return bytes.fromhex(letters.decode()).decode("utf-16-be", "replace")


def _stream(content: bytes) -> bytes:
    held = re.search(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    raw = held[1] if held else b""
    return zlib.decompress(raw) if b"FlateDecode" in content else raw
