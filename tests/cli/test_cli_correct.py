"""A document is corrected where it is read: the banner at the head of a section, and the chain behind it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.desk import Desk, desk

SIZING = "# Sizing\r\n\r\n## 4 Memory\r\n\r\nfits\r\n\r\n## 6 Kernels\r\n\r\n68 \xff quadratic".encode("latin-1")


@pytest.fixture
def project(tmp_path: Path) -> Desk:
    held = desk(tmp_path / "project")
    (held.root / "sizing.md").write_bytes(SIZING)
    return held


def test_a_banner_stands_where_it_is_read_and_nothing_else_moves(project: Desk) -> None:
    said = ("--falls", "68 % quadratic", "--survives", "section:4", "--why", "another seat", "--author", "A Reader")
    (project.root / "sizing.md").chmod(0o600)
    ended = project.type("correct", "sizing.md", "--section", "6", *said)
    assert ended.exit_code == 0 and "partial retraction #1 of sizing.md  6 Kernels" in ended.output
    assert (project.root / "sizing.md").stat().st_mode & 0o777 == 0o600
    written = (project.root / "sizing.md").read_bytes()
    lines = written.split(b"\r\n")
    at = lines.index(b"## 6 Kernels")
    assert lines[at + 1].startswith(b"<!-- affidavit:correction ")
    assert lines[at + 2].endswith(b"Falls: 68 % quadratic. Survives: section:4. Why: another seat.")
    assert b"\r\n".join(lines[: at + 1] + lines[at + 4 :]) == SIZING
    # The document has other bytes now, and what was said of it is found all the same.
    shown = project.type("show", "sizing.md").stdout
    assert "FALLS since #1: another seat; falls: 68 % quadratic" in shown and "section:4  survives" in shown
    assert project.type("verify", "sizing.md").exit_code == 0
    again = ("--falls", "section:6", "--reviewed-nothing-else", "--why", "all of it")
    document = json.loads(project.type("correct", "sizing.md", "--section", "kernels", *again, "--json").output)
    assert (document["number"], document["section"]) == (2, "section:6")
    assert (project.root / "sizing.md").read_bytes().count(b"<!-- affidavit:correction ") == 2
    assert len(list((project.root / "affidavit.corrections").iterdir())) == 1, "one document, one chain"
    edited = project.root / "sizing.md"
    edited.write_bytes(edited.read_bytes().replace(b"fits", b"fits well"))
    lost = project.type("show", "sizing.md")
    assert lost.exit_code == 2 and "it was edited since" in lost.stderr
    assert project.type("show", *lost.stderr.partition('"affidavit show ')[2].partition('"')[:1]).exit_code == 0


def test_where_no_banner_can_stand_nothing_is_written(project: Desk) -> None:
    (project.root.parent / "elsewhere.md").write_text("## 6 Kernels\n")
    (project.root / "twice.md").write_text("# Notes\n# Notes\n")
    for words, said in (
        ("nope.md --section 6", "saw none there"),
        ("sizing.md --section Kernel", 'did you mean "6 Kernels"'),
        ("sizing.md --section x", 'there is "Sizing", "4 Memory", "6 Kernels"'),
        ("sizing.md --section 6 --falls section:9", "saw section:9; there is section:4, section:6"),
        ("sizing.md --section 6 --survives claim:gone", "expected names of its sections and claims"),
        ("twice.md --section Notes", '"Notes" in line 1 (section:notes), in line 2 (section:notes-1)'),
        ("notes.rst --section 1", 'Run "affidavit annotate'),
        ("sizing.md --section 6 --falls=", "saw nothing in one of them"),
        ("train.py --section 6", "expected a document"),
        ("../elsewhere.md --section 6", "expected a document of this project"),
        ("sizing.md --section 6 --survives x", "to be different things"),
    ):
        ended = project.type("correct", *words.split(), *("--falls", "x", "--survives", "y", "--why", "w"))
        assert ended.exit_code == 2 and said in ended.stderr, ended.stderr
    assert (project.root / "sizing.md").read_bytes() == SIZING
    assert not (project.root / "affidavit.corrections").exists()


def test_a_correction_that_leaves_all_else_open_says_so(project: Desk) -> None:
    ended = project.type("correct", "sizing.md", "--section", "6", "--falls", "x", "--why", "w")
    assert ended.exit_code == 2 and "--reviewed-nothing-else" in ended.stderr
