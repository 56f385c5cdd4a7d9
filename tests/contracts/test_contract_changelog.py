"""A fragment says what is now true, in a sentence somebody reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "changelog"
NAME = re.compile(r"\d+\.(added|changed|fixed|removed)(\.[a-z-]+)?\.md")
WORDS = 25


def _complaint(name: str, text: str) -> str:
    if not NAME.fullmatch(name):
        return f"{name}: expected <issue>.<kind>[.<word>].md"
    words = re.findall(r"\w[\w'’-]*", text)
    return f"{name}: expected 1 to {WORDS} words, saw {len(words)}" if not 0 < len(words) <= WORDS else ""


def test_every_fragment_is_short() -> None:
    fragments = [path for path in FOLDER.iterdir() if path.name != "README.md"]
    assert fragments
    assert not [said for path in fragments if (said := _complaint(path.name, path.read_text()))]


@pytest.mark.parametrize(
    ("name", "text"), [("2.added.md", "word " * 26), ("2.added.md", ""), ("notes.md", "A word."), ("2.new.md", "One.")]
)
def test_a_bad_fragment_is_seen(name: str, text: str) -> None:
    assert _complaint(name, text)
