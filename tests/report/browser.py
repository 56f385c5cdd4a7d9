"""The browser in which a page is opened, and the text of what it prints."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from io import BytesIO
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
    """Return the text that a PDF holds."""
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(BytesIO(pdf)).pages)
