"""Anchors: which number of a text an id is said of, in prose and in comments, and what is no anchor at all."""

from __future__ import annotations

from decimal import Decimal
from pathlib import PurePath

import pytest

from affidavit.claims.anchor.anchor import COMMA, NO_NUMBER, TWO_NUMBERS, anchors
from affidavit.claims.anchor.place import COMMENTS, MARKDOWN, PYTHON, kind_of

ID = "encode-cache-rebuild"


def _read(text: str, kind: str) -> list[tuple[str, int, str, str]]:
    return [(one.claim, one.line, one.written, one.problem) for one in anchors(text, kind)]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (f"It takes [145.5 s](claim:{ID}).", "145.5 s"),
        (f"It takes [**145.5 s**](claim:{ID}).", "145.5 s"),
        (f"It takes [about 2.4 min](claim:{ID}).", "2.4 min"),
        (f'[145.5 s](claim:{ID} "on a laptop")', "145.5 s"),
        (f"| [38,000](claim:{ID}) |", "38,000"),
        (f"<!-- claim: {ID} -->145.5 s<!-- /claim -->", "145.5 s"),
        (f"<!-- claim: {ID} -->`145.5 s`<!-- /claim -->", "145.5 s"),
        (f"> - [145.5\n  s](claim:{ID})", "145.5"),
        (f"```\n[1 s](claim:no)\n```\n[145.5 s](claim:{ID})", "145.5 s"),
        (f"`` ` `` and [145.5 s](claim:{ID}) and `` ` ``", "145.5 s"),
    ],
)
def test_prose_carries_an_id(text: str, written: str) -> None:
    (found,) = anchors(text, MARKDOWN)
    assert (found.claim, found.problem) == (ID, "")
    assert found.written == written
    assert found.at.of(text) == found.written and found.claim_at.of(text) == ID


@pytest.mark.parametrize(
    "text",
    [
        f"```\n[145.5 s](claim:{ID})\n```",
        f"~~~md\n```\n[145.5 s](claim:{ID})\n~~~",
        f"   ```\n[145.5 s](claim:{ID})",
        f"Write `[145.5 s](claim:{ID})` there.",
        f"`<!-- claim: {ID} -->`145.5 s`<!-- /claim -->`",
        f"<!-- [145.5 s](claim:{ID}) -->",
        "[145.5 s](claims.md) and [x][claim:y]",
    ],
)
def test_code_and_comments_of_prose_carry_none(text: str) -> None:
    assert anchors(text, MARKDOWN) == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"[soon](claim:{ID})", NO_NUMBER),
        (f"[2 s or 3 s](claim:{ID})", TWO_NUMBERS),
        (f"<!-- claim: {ID} -->145.5 s", "no <!-- /claim --> follows it"),
        (f"<!-- claim: {ID} -->{'x' * 400} 2 s<!-- /claim -->", "its end is far"),
    ],
)
def test_what_cannot_be_held_against_anything_says_why(text: str, problem: str) -> None:
    (found,) = anchors(text, MARKDOWN)
    assert found.problem == problem


@pytest.mark.parametrize(
    ("line", "written"),
    [
        (f"LIMIT = 145.5  # s, claim: {ID}", "145.5"),
        (f"LIMIT = 200  # 145.5 s and some, claim: {ID}", "145.5 s"),
        (f"# rebuilds in 145.5 s (claim: {ID})", "145.5 s"),
        (f"# claim: {ID} 145.5 s", "145.5 s"),
        (f"# 53 checks, claim: {ID}", "53"),
        (f"LIMIT = 145.5  # in step 3, claim: {ID}", "145.5"),
        (f"x = '#'  # 145.5 s claim: {ID}", "145.5 s"),
        (f"limit: 145.5 # claim: {ID}", "145.5"),
    ],
)
@pytest.mark.parametrize("kind", [PYTHON, COMMENTS])
def test_a_comment_carries_an_id(line: str, written: str, kind: str) -> None:
    text = f"a = 1\n\n{line}\nb = 2\n"
    (found,) = anchors(text, kind)
    assert (found.claim, found.line, found.written, found.problem) == (ID, 3, written, "")
    assert found.at.of(text) == written


def test_several_ids_of_one_comment_have_the_number_before_each() -> None:
    text = "# 3 s claim: a-b, 4 s claim: c-d"
    assert [(one.claim, one.written) for one in anchors(text, COMMENTS)] == [("a-b", "3 s"), ("c-d", "4 s")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"y = f(1, 2)  # claim: {ID}", TWO_NUMBERS),
        (f"#SBATCH --partition=big # claim: {ID}", NO_NUMBER),
    ],
)
def test_a_comment_without_one_number_says_so(line: str, problem: str) -> None:
    (found,) = anchors(line, COMMENTS)
    assert found.problem == problem


def test_a_string_is_no_comment_and_a_sentence_is_told_apart() -> None:
    assert anchors(f'x = """\n# 3 s claim: {ID}\n"""\n', PYTHON) == ()
    assert anchors(f'echo "# 3 s claim: {ID}"', COMMENTS) == ()
    (sentence,) = anchors("# The claim: it takes 3 s", COMMENTS)
    assert sentence.is_sentence


def test_what_is_no_python_is_read_by_its_lines() -> None:
    (found,) = anchors(f"def f(:\n  'open\nLIMIT = 3.5 # claim: {ID}\n", PYTHON)
    assert found.line == 3 and found.written == "3.5"


@pytest.mark.parametrize(
    ("path", "first_line", "kind"),
    [
        ("README.md", "", MARKDOWN),
        ("page.html", "", MARKDOWN),
        ("train.py", "", PYTHON),
        ("go.sbatch", "", COMMENTS),
        ("sft.yaml", "", COMMENTS),
        ("Makefile", "", COMMENTS),
        ("launch", "#!/usr/bin/env bash", COMMENTS),
        ("tool", "#!/usr/bin/env python3", PYTHON),
        ("data.json", "", ""),
        ("LICENSE", "", ""),
    ],
)
def test_a_file_is_read_by_what_it_is(path: str, first_line: str, kind: str) -> None:
    assert kind_of(PurePath(path), first_line) == kind


@pytest.mark.parametrize("kind", [MARKDOWN, PYTHON, COMMENTS])
@pytest.mark.parametrize(
    "text",
    [
        "claim:" * 20_000,
        "[" * 40_000 + "](claim:x)",
        "<!-- claim: a-b -->" * 5_000,
        "`" * 40_000 + "claim:",
        "claim: \udc80\x00 # claim: é",
        "".join("`" * at + " " for at in range(1, 300)) + "[1 s](claim:a-b)",
        "# claim: a-b " * 5_000,
    ],
)
def test_odd_text_is_read_to_its_end(text: str, kind: str) -> None:
    assert isinstance(anchors(text, kind), tuple)


def test_what_stands_around_is_kept_up_to_an_empty_line() -> None:
    text = f"No.\n\nOn one H200,\n[145.5 s](claim:{ID})\nof time.\n\nNo."
    (found,) = anchors(text, MARKDOWN)
    assert found.near == f"On one H200,\n[145.5 s](claim:{ID})\nof time."


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (f"[145.5 s](claim: {ID})", "145.5 s"),
        (f"A rebuild takes 145.5 s (claim: {ID}), and so nobody does it.", "145.5 s"),
        (f"Of 3 h, a rebuild takes 145.5 s (claim: {ID}).", "145.5 s"),
        (f"[-3](claim:{ID})", "-3"),
        (f"[−3 %](claim:{ID})", "−3 %"),
        (f"It is 3e-4 (claim: {ID}).", "3e-4"),
        (f"2024-11: 15,480 (claim: {ID})", "15,480"),
    ],
)
def test_prose_carries_an_id_as_people_type_it(text: str, written: str) -> None:
    (found,) = anchors(text, MARKDOWN)
    assert (found.claim, found.problem, found.written) == (ID, "", written)


@pytest.mark.parametrize("written", ["4,3 h", "4,3", "1,23"])
def test_a_comma_is_no_decimal_point_and_is_told(written: str) -> None:
    (found,) = anchors(f"[{written}](claim:{ID})", MARKDOWN)
    assert found.problem == COMMA


def test_a_docstring_is_prose() -> None:
    text = f'''"""Module: [1 s](claim:{ID})."""\n\n# about\ndef f():\n    r"""Takes 2 s (claim: {ID}).
    Or `[3 s](claim:{ID})`.
    """
    x = """[4 s](claim:{ID})"""
    return f("[5 s](claim:{ID})")  # 6 s, claim: {ID}
'''
    assert _read(text, PYTHON) == [(ID, 1, "1 s", ""), (ID, 5, "2 s", ""), (ID, 9, "6 s", "")]
    assert [one.is_sentence for one in anchors(text, PYTHON)] == [True, True, False]


@pytest.mark.parametrize(
    ("line", "written", "unit"),
    [
        (f"LIMIT = 2.4  # min, claim: {ID}", "2.4", ("time", 60)),
        (f"LIMIT = 2.4  # in hours (claim: {ID})", "2.4", ("time", 3600)),
        (f"limit_ms: 145_500  # claim: {ID}", "145_500", ("time", Decimal("0.001"))),
        (f"export LIMIT_MS=145500  # claim: {ID}", "145500", ("time", Decimal("0.001"))),
        (f"run --limit-minutes 3  # claim: {ID}", "3", ("time", 60)),
        (f"limitSeconds: float = 1e4  # claim: {ID}", "1e4", ("time", 1)),
        (f"seconds = 3  # claim: {ID}", "3", ("time", 1)),
        (f"tokens_per_second = 3  # claim: {ID}", "3", ("tokens/s", 1)),
        (f"share_pct = -3  # claim: {ID}", "-3", ("fraction", Decimal("0.01"))),
        (f"min = 3  # claim: {ID}", "3", None),
        (f"sleep 3  # claim: {ID}", "3", None),
        (f"x = f(3)  # the limit, claim: {ID}", "3", None),
    ],
)
def test_a_bare_number_is_in_the_unit_that_is_said_beside_it(
    line: str, written: str, unit: tuple[str, Decimal] | None
) -> None:
    (found,) = anchors(line, COMMENTS)
    assert (found.written, found.problem) == (written, "")
    assert (found.unit and (found.unit.dimension, found.unit.scale)) == unit
