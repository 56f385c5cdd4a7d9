"""The banner of a correction: where it stands, and that nothing else of the document moves."""

from __future__ import annotations

import pytest

from affidavit.claims.banner import headings, insert, sections, without

DIGEST = "0123456789abcdef"


HIDDEN = "---\n# 6 A comment\ntitle: x\n---\n<!--\n# 6 Hidden\n-->\n```\n## 6 No\n```\n"


def _inserted(text: str, said: str, number: int) -> str:
    (found,) = sections(text, "6")
    return insert(text, found, said, digest=DIGEST, number=number)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "text",
    [
        "# A\n\n## 6. Sizing\n\nx\n\n## 6.1 Y\nz",
        "## 6 Sizing",
        "```\n## 6 No\n```\n## 6 Yes\nz\n",
        "\ufeff# 6 Marked\n",
        "6 Underlined\n------------\nx\n",
        f"{HIDDEN}# 6 A `tick\nand ` another\n",
        "# 6 Tail ##\n```\n\n<!-- affidavit:correction 0123456789ab #1 -->\n> x\n<!-- /affidavit:correction -->\n```",
    ],
)
def test_it_comes_out_as_it_went_in(text: str, newline: str) -> None:
    text = text.replace("\n", newline)
    one = _inserted(text, "falls: a <b> ` \x1b[2J\u202e", 1)
    assert "> falls: a &lt;b> ` \ufffd[2J\ufffd" in one and without(one) == text
    assert newline not in text or one.count("\r") == (text.count("\r") + 3) * newline.count("\r")
    assert _inserted(one, "again", 1) == one
    two = _inserted(one, "second", 2)
    assert without(two) == text
    assert two.index("> falls: a") < two.index("> second")


def test_a_banner_has_the_line_ends_of_its_heading() -> None:
    assert _inserted("# 5 A\r\n# 6 B\nx", "y", 1).count("\r") == 1


@pytest.mark.parametrize(
    ("called", "name"),
    [
        *((called, "section:6.1") for called in ("6.1", "§6.1", "section 6.1", "section:6.1", "6.1. The Memory model")),
        *((called, "section:6.1") for called in ("## 6.1 The memory model", "THE MEMORY MODEL", "the-memory-model")),
        *((called, "section:6.1") for called in ("#61-the-memory-model", "6.1 The memory model")),
        ("The kernel table", "section:the-kernel-table"),
        ("the `kernel` table", "section:the-kernel-table"),
        ("notes", "section:notes section:notes-1"),
        ("section:notes", "section:notes"),
        ("#notes-1", "section:notes-1 section:notes-1-1"),
        ("notes 1", "section:notes-1-1"),
        ("3", ""),
        ("3D models", "section:3d-models"),
        ("内存", "section:内存"),
        ("6", ""),
        ("", ""),
        ("#", ""),
    ],
)
def test_what_a_section_goes_by(called: str, name: str) -> None:
    text = (
        f"{HIDDEN}## 6.1 The memory model\n## The *kernel* `table`\n## Notes\n## Notes\n## Notes 1\n"
        "## 3D models\n## 内存\n#\n"
    )
    assert " ".join(one.name for one in sections(text, called)) == name


def test_no_two_sections_have_one_name() -> None:
    names = [one.name for one in headings("# 6 A\n# 6 B\n# A\n# A\n# A 1\n# A-1\n# !\n")]
    assert names == ["section:6", "section:6-1", "section:a", "section:a-1", "section:a-1-1", "section:a-1-2", ""]
