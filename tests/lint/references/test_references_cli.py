"""What `affidavit lint` says of a folder that holds documents alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from affidavit.cli.lint import command
from affidavit.lint.files import LintError


def test_documents_alone_are_read_and_their_pointers_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sizing.md").write_text("# Sizing\n", encoding="utf-8")
    (tmp_path / "doc.md").write_text("x\n\n[a](sizing.md)\n[b](sizing.md#gone)\n", encoding="utf-8")
    listed = CliRunner().invoke(command, ["--refs", "sizing.md"], standalone_mode=False)
    assert [line for line in listed.output.splitlines() if line] == [
        "doc.md:3: sizing.md",
        "doc.md:4: sizing.md#gone",
        "2 references to sizing.md in 2 documents and in code",
    ]
    judged = CliRunner().invoke(command, ["--json"], standalone_mode=False)
    assert judged.return_value == 1
    assert "sizing.md has no heading #gone" in judged.output


def test_a_document_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "doc.md").write_text("x\n", encoding="utf-8")
    asked = CliRunner().invoke(command, ["--refs", "sizing.md"], standalone_mode=False)
    assert isinstance(asked.exception, LintError)
    assert "saw nothing at sizing.md" in str(asked.exception) and asked.output == ""
