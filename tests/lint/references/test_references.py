"""References resolve to files, headings and numbered sections; what is not ours is not judged."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from affidavit.lint.files import documents
from affidavit.lint.references import read_references
from affidavit.lint.references.targets import LARGEST_BYTES

NAME = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
TARGET = (
    "# Sizing\n\n## 1. Cost\n\n### 1.1 Time\n\n## 2. Cost\n\n## Notes\n\n## Notes\n\n"
    'Setext here\n-----------\n\n<a id="given"></a>\n\n'
    "## map<string, Any>\n\n## `on[Symbol](err)` *now* <br/>\n\n* #### *P₁*: Peers\n"
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
        ("[a](sizing.md#mapstring-any)", ""),
        ("[a](sizing.md#onsymbolerr-now-)", ""),
        ("[a](sizing.md#p-peers)", ""),
        ("[a](sizing.md#???)", ""),
        ("<!-- [a](gone.md)", ""),
        ("`` ` [a](gone.md) ``", ""),
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
        ("§3 of `sizing.md`", "sizing.md has no section 3"),
        ("Section 3 in [sizing.md](sizing.md)", "sizing.md has no section 3"),
        ("[the cost, §3](sizing.md)", "sizing.md has no section 3"),
        ("[§3 of RFC 2119](sizing.md)", ""),
        ("sizing.md §§1–3", "sizing.md has no section 3"),
        ("sizing.md sections 1, 2 and 3", "sizing.md has no section 3"),
        ("sizing.md section 2 and 3 GPUs", ""),
        ("docs/sizing.md §1 and §3", "sizing.md has no section 3"),
        ("docs/gone.md §1", "no file at gone.md"),
        ("owner/name docs/gone.md §1", ""),
        ("elsewhere/gone.md §1", ""),
        ("[a](docs/sizing.md)", ""),
        ("notes.md §9", ""),
        ("[a](affidavit.corrections/gone.md)", "no file at gone.md"),
        ("(§9), and sizing.md §3", "sizing.md has no section 3"),
    ],
)
def test_what_a_line_points_to(tmp_path: Path, line: str, said: str) -> None:
    """A document beside others, below the top of a repository; one that is known by its name is held to nothing."""
    (tmp_path / ".git").mkdir()
    for name in ("sizing.md", "docs/sizing.md", "docs/docs/sizing.md", "far/notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TARGET, encoding="utf-8")
    document = tmp_path / "docs" / "doc.md"
    document.write_text(line + "\n", encoding="utf-8")
    found = read_references([document, tmp_path / "far/notes.md"])
    assert [one.said for one in found.broken] == ([said] if said else [])


@pytest.mark.parametrize(
    ("line", "is_broken"), [("see §1.1", False), ("(§3.4)", True), ("cf. §3.4", True), ("STYLE §7", False)]
)
def test_a_numbered_document_is_held_to_its_own_numbers(tmp_path: Path, line: str, is_broken: bool) -> None:
    document = tmp_path / "doc.md"
    document.write_text(f"{TARGET}\n{line}\n", encoding="utf-8")
    assert bool(read_references([document]).broken) is is_broken


@pytest.mark.parametrize("line", ["[a](gone.md)\r", "```\n## 9 x\n```\n[a](gone.md)", "``\n\n[a](gone.md)\n"])
def test_lines_are_those_of_the_file(tmp_path: Path, line: str) -> None:
    document = tmp_path / "doc.md"
    document.write_bytes(f"a\r\n{line}\n".encode())
    (found,) = read_references([document]).broken
    assert found.reference.line == 2 + line.split("[a]")[0].count("\n")


def test_what_hides_headings_and_what_does_not(tmp_path: Path) -> None:
    document = tmp_path / "doc.md"
    front, hidden = "\ufeff---\n# 7 A comment\nkey: 1\n---\n", "<!--\n# 8 Hidden\n-->\n"
    text = f"{front}# 1 A\r\n{hidden}2 B `<!--`\n---\n# 3\nsee §7, see §8, see §1, see §2, see §3\n"
    document.write_text(text, encoding="utf-8")
    assert [one.said for one in read_references([document]).broken] == [
        "doc.md has no section 7",
        "doc.md has no section 8",
    ]


@pytest.mark.parametrize(
    ("banner", "said"), [("0123456789ab #2", ""), ("0123456789ab #3", "#3"), ("ba9876543210 #1", "#1")]
)
def test_a_banner_speaks_of_a_correction_that_is_there(tmp_path: Path, banner: str, said: str) -> None:
    chain = tmp_path / "affidavit.corrections" / ("0123456789ab" + "c" * 52)
    chain.mkdir(parents=True)
    (chain / "annotations.jsonl").write_bytes(b"{}\n{}\n")
    document = tmp_path / "docs" / "doc.md"
    document.parent.mkdir()
    (tmp_path / ".git").mkdir()
    document.write_text(
        f"# A\n<!-- affidavit:correction {banner} -->\n> x\n<!-- /affidavit:correction -->\n", encoding="utf-8"
    )
    found = [(one.reference.line, one.said) for one in read_references([document]).broken]
    assert found == ([(2, f"no correction {said} of {banner[:12]} in affidavit.corrections")] if said else [])


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.py", '"""See sizing.md §3.\n\nAnd sizing.md §1, sizing.md §4."""\n', [1, 3]),
        ("a.py", "x = 'sizing.md §3'\n\n\nclass A:\n    # sizing.md §3\n    '§4 of sizing.md'\n", [5, 6]),
        ("a.py", "def (  # sizing.md §3\nx = '#sizing.md §3'\n", [1]),
        ("a.sh", "python x.py  # sizing.md §3\necho sizing.md §3\n", [1]),
        ("a.yaml", "a: 1\r\n# sizing.md §3\r\n", [2]),
        ("a.py", "# 1 A\n# 2 B\n# see §3\n# gone.md §3, owner/gone.md §3\n", []),
    ],
)
def test_comments_name_sections(tmp_path: Path, name: str, text: str, lines: list[int]) -> None:
    (tmp_path / "sizing.md").write_text(TARGET, encoding="utf-8")
    code = tmp_path / name
    code.write_bytes(text.encode())
    found = read_references([tmp_path / "sizing.md"], [code])
    assert [one.reference.line for one in found.broken] == lines


def test_a_document_that_stood_there_once_is_missed(tmp_path: Path) -> None:
    for words in ("init -q", "commit -q --allow-empty -m x"):
        subprocess.run(["git", "-C", tmp_path, *NAME, *words.split()], check=True)
    (tmp_path / "doc.md").write_text("gone.md §1\n", encoding="utf-8")
    assert not read_references([tmp_path / "doc.md"]).broken
    (tmp_path / "gone.md").write_text("# 1 A\n", encoding="utf-8")
    for words in ("add .", "commit -q -m x"):
        subprocess.run(["git", "-C", tmp_path, *NAME, *words.split()], check=True)
    (tmp_path / "gone.md").rename(tmp_path / "new.md")
    assert [one.said for one in read_references([tmp_path / "doc.md"]).broken] == ["no file at gone.md"]
    for words in ("add .", "commit -q -m x"):
        subprocess.run(["git", "-C", tmp_path, *NAME, *words.split()], check=True)
    assert [one.said for one in read_references([tmp_path / "doc.md"]).broken] == ["no file at gone.md"]


def test_what_git_ignores_is_made_by_something(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("made/\n", encoding="utf-8")
    document = tmp_path / "doc.md"
    document.write_text("[a](made/rules.md) [b](gone.md)\n", encoding="utf-8")
    assert [one.said for one in read_references([document]).broken] == ["no file at gone.md"]


def test_a_document_that_is_too_large_is_told(tmp_path: Path) -> None:
    document = tmp_path / "doc.md"
    document.write_bytes(b"[a](gone.md)\n" + b"x" * LARGEST_BYTES)
    found = read_references(documents([tmp_path]))
    assert found.unread == ((document, "larger than 2 MiB"),) and not found.broken


@pytest.mark.parametrize(
    "odd",
    ["<a ", "`", "``` x\n", "<!-- ", "§1 ", "](", "# \n", "[a]: ", "{#", "a.md §", "a", " ", "x:", "see §1 ", "§1,"],
)
def test_no_document_is_read_for_long(tmp_path: Path, odd: str) -> None:
    document = tmp_path / "doc.md"
    document.write_text("# 1 A\n# 2 §1" + odd * (100_000 // len(odd)) + "b", encoding="utf-8")
    started = time.process_time()
    read_references([document])
    assert time.process_time() - started < 3.0


def test_odd_bytes_are_read(tmp_path: Path) -> None:
    document = tmp_path / "doc.md"
    document.write_bytes(b"# \xff\xfe\x00\n[a](\x00gone.md)\n[b](gone.md)\n\r\r" + b"`" * 50)
    found = read_references([document])
    assert (found.documents, found.unread) == (1, ())
    assert [(one.reference.line, one.reference.target.name) for one in found.broken] == [(3, "gone.md")]
