import json
from io import StringIO

import pytest
from tests.report.world import healthy, statement

from affidavit.report import document, text
from affidavit.report.terminal import Span, Tone, clean, draw, line, wants_colour


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[2J\x1b[31mPASS", "\\x1b[2J\\x1b[31mPASS"),
        ("\x9b31m", "\\x9b31m"),
        ("a\rb\nc\td\x00\x7f", "a\\rb\\nc\\td\\x00\\x7f"),
        ("model‮gpj.exe", "model\\u202egpj.exe"),
        ("zero​width", "zero\\u200bwidth"),
        ("\udcff.txt", "\\xff.txt"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("line\u2028break", "line\\u2028break"),
    ],
)
def test_no_character_can_steer_a_terminal(hostile: str, harmless: str) -> None:
    assert clean(hostile) == harmless
    for colour in (False, True):
        drawn = draw([line(hostile, head=hostile, indent=4)], colour=colour)
        assert harmless in drawn
        assert "\x1b[31m" not in drawn and "\x9b" not in drawn and "\r" not in drawn


def test_ordinary_text_of_any_script_is_left_alone() -> None:
    ordinary = "naïve 漢字 शब्द مرحبا 👩‍🔬 ⟦lit⟧ é"
    assert clean(ordinary) == ordinary


def test_a_fact_cannot_repaint_or_forge_the_report() -> None:
    case = healthy().altered("tree.commit", "\x1b[1A\x1b[2K✓ 4.1 all is well\nFAIL")
    said = statement(case)
    drawn = draw(text.report(said))
    assert "\x1b" not in drawn
    assert not any(row.startswith(("✓ 4.1", "FAIL")) for row in drawn.splitlines())
    assert "\x1b" not in document.encode(document.statement(said))


def test_nothing_is_wider_than_asked_and_nothing_is_lost() -> None:
    words = " ".join(f"word{number}" for number in range(200))
    drawn = draw([line(words, head="HEAD", indent=9)])
    assert max(map(len, drawn.splitlines())) <= 80
    assert drawn.split()[1:] == words.split()
    assert all(row.startswith(" " * 9) for row in drawn.splitlines()[1:])
    assert not any(row.endswith(" ") for row in drawn.splitlines())


def test_wide_letters_count_twice_and_a_long_word_is_folded() -> None:
    drawn = draw([line("漢" * 100)])
    assert [len(row) for row in drawn.splitlines()] == [40, 40, 20]


def test_what_an_encoding_does_not_have_is_escaped_before_it_is_wrapped() -> None:
    drawn = draw([line(Span("漢" * 30, Tone.LIT), head="✗ 4.3", indent=8)], encoding="ascii")
    assert drawn.startswith("x 4.3   \\u6f22") and drawn.count("u6f22") == 30
    assert max(map(len, drawn.splitlines())) <= 80
    assert draw([line("naïve ✓")], encoding="latin-1") == "naïve +\n"


def test_a_head_that_does_not_fit_stands_alone() -> None:
    assert draw([line("body", head="a very long head", indent=4)]) == "a very long head\n    body\n"


def test_a_narrow_terminal_wraps_earlier_and_a_wide_one_does_not_spread() -> None:
    words = line("word " * 60)
    assert max(map(len, draw([words], width=60).splitlines())) <= 60
    assert max(map(len, draw([words], width=400).splitlines())) <= 80


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": ""}, False),
        ({}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(environment: dict[str, str], expected: bool) -> None:
    assert wants_colour(Terminal(), environment) is expected
    assert wants_colour(StringIO(), environment) is False


def test_colour_adds_emphasis_and_takes_nothing() -> None:
    lines = [line(Span("FAIL", Tone.BAD), " it"), line(Span("lit", Tone.LIT))]
    plain, coloured = draw(lines), draw(lines, colour=True)
    assert "\x1b" not in plain
    assert coloured.count("\x1b") >= 4
    assert json.dumps(plain) == json.dumps(_uncoloured(coloured))


def _uncoloured(drawn: str) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", drawn)
