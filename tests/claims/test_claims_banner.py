"""The banner of a correction: where it stands, and that nothing else of the document moves."""

from __future__ import annotations

import pytest

from affidavit.claims.banner import heading, insert, without

DIGEST = "0123456789abcdef"


def _inserted(text: str, said: str, number: int) -> str:
    found = heading(text, "6")
    assert found is not None
    return insert(text, found, said, digest=DIGEST, number=number)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text", ["# A\n\n## 6. Sizing\n\nx\n\n## 6.1 Y\nz", "## 6 Sizing", "```\n## 6 No\n```\n## 6 Yes\nz\n"]
)
def test_it_comes_out_as_it_went_in(text: str, newline: str) -> None:
    text = text.replace("\n", newline)
    one = _inserted(text, "falls: a <b>", 1)
    assert "> falls: a &lt;b>" in one and without(one) == text
    assert _inserted(one, "again", 1) == one
    two = _inserted(one, "second", 2)
    assert without(two) == text
    assert two.index("#1 -->") < two.index("#2 -->")


def test_a_section_is_named_by_its_number_its_title_or_its_slug() -> None:
    text = "## 6.1 The memory model\n```\n## 6 No\n```\n## The kernel table\n"
    assert heading(text, "6") is None
    for called in ("6.1", "§6.1", "section:6.1", "The memory model", "the-memory-model"):
        found = heading(text, called)
        assert found is not None and found.name == "section:6.1", called
    table = heading(text, "the-kernel-table")
    assert table is not None and table.name == "section:the-kernel-table"
