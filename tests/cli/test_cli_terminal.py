"""The three screens on a real terminal: a pseudo-terminal of a given size, kind and locale."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest
from rich.cells import cell_len
from tests.cli.desk import Desk

SCREENS = (("show",), ("tokens",), ("show", "--implied"), ("ls",))
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(desk: Desk, *words: str, columns: int = 80, **environment: str) -> str:
    """Return what a terminal of this width was sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    bare = {key: value for key, value in desk.environment.items() if key not in ("COLUMNS", "NO_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", "affidavit.cli", *words],
        cwd=desk.root,
        env={**bare, "TERM": "xterm-256color", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                read = os.read(ours, 65536)
            except OSError:  # EIO: whoever held the other side is gone
                break
            if not read:
                break
            said += read
    os.close(ours)
    assert process.returncode == 0, said
    return said.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("words", SCREENS, ids=" ".join)
def test_a_screen_fits_its_terminal_and_colour_changes_no_word(trained: Desk, words: tuple[str, ...]) -> None:
    plain = trained.type(*words, trained.runs["users"] if words != ("ls",) else "--limit=20").stdout
    run = (trained.runs["users"],) if words != ("ls",) else ()
    coloured = on_terminal(trained, *words, *run)
    assert "\x1b[" in coloured and ESCAPE.sub("", coloured) == plain
    for columns in (60, 80, 200):
        drawn = ESCAPE.sub("", on_terminal(trained, *words, *run, columns=columns))
        assert max(cell_len(row) for row in drawn.splitlines()) <= min(columns, 80)
        assert drawn.split() == plain.split() or columns < 80


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}], ids=str)
def test_nobody_who_wants_none_gets_an_escape(trained: Desk, environment: dict[str, str]) -> None:
    for words in SCREENS:
        assert "\x1b" not in on_terminal(trained, *words, **environment)


def test_lit_is_told_by_marks_and_not_by_colour_alone(trained: Desk) -> None:
    page = on_terminal(trained, "tokens", NO_COLOR="1")
    assert "⟦No, blue.<eos>⟧" in page and "⟦lit⟧ carries the loss" in page


def test_a_terminal_without_unicode_gets_ascii_and_no_broken_letter(trained: Desk) -> None:
    for words in SCREENS:
        page = on_terminal(trained, *words, PYTHONIOENCODING="ascii:strict", NO_COLOR="1")
        assert page.isascii() and "\\u" not in page
    assert "[[No, blue.<eos>]]" in on_terminal(trained, "tokens", PYTHONIOENCODING="ascii", NO_COLOR="1")
