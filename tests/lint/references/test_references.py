"""References resolve to files, headings and numbered sections; what is not ours is not judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.lint.references import read_references

TARGET = (
    "# Sizing\n\n## 1. Cost\n\n### 1.1 Time\n\n## 2. Cost\n\n## Notes\n\n## Notes\n\n"
    'Setext here\n-----------\n\n<a id="given"></a>\n'
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[a](sizing.md)", ""),
        ("[a](gone.md)", "no file at gone.md"),
        ("[a](sizing.md#notes-1)", ""),
        ("[a](sizing.md#notes-2)", "sizing.md has no heading #notes-2"),
        ("[a](sizing.md#11-time)", ""),
        ("[a](sizing.md#setext-here)", ""),
        ("[a](sizing.md#given)", ""),
        ("[a]: sizing.md#nowhere", "sizing.md has no heading #nowhere"),
        ("sizing.md §1.1", ""),
        ("`sizing.md`, section 3", "sizing.md has no section 3"),
        ("see §9 of the law", ""),
        ("`[a](gone.md)`", ""),
        ("```\n[a](gone.md)\n```", ""),
        ("[a](https://example.org/gone.md)", ""),
        ("RFC 2119, section 9", ""),
        ("other.md §9", ""),
        ("see §9", ""),
    ],
)
def test_what_a_line_points_to(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "sizing.md").write_text(TARGET, encoding="utf-8")
    document = tmp_path / "doc.md"
    document.write_text(line + "\n", encoding="utf-8")
    assert [one.said for one in read_references([document]).broken] == ([said] if said else [])


@pytest.mark.parametrize(("line", "is_broken"), [("see §1.1", False), ("(§3.4)", True), ("STYLE §7", False)])
def test_a_numbered_document_is_held_to_its_own_numbers(tmp_path: Path, line: str, is_broken: bool) -> None:
    document = tmp_path / "doc.md"
    document.write_text(f"{TARGET}\n{line}\n", encoding="utf-8")
    assert bool(read_references([document]).broken) is is_broken


def test_odd_bytes_are_read(tmp_path: Path) -> None:
    document = tmp_path / "doc.md"
    document.write_bytes(b"# \xff\xfe\x00\n[a](\x00gone.md)\n\r\r" + b"`" * 50)
    read_references([document])
