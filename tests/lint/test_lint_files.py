"""Which files of a folder are read: what git does not ignore, by what they are; what was named, whatever its size."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from affidavit.lint.files import LARGEST_BYTES, LintError, gather

LAID_OUT = (
    *("train.py", "src/data.py", "configs/sft.yaml", "configs/ds.json", "pyproject.toml", "run.sh", "job.sbatch"),
    *("README.md", "rows.jsonl", "out/late.py", "site-packages/lib.py", ".venv/lib.py", "node_modules/a.json"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in LAID_OUT:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / ".gitignore").write_text("out/\n.venv/\n")
    return tmp_path


def found(folder: Path) -> tuple[set[str], set[str], set[str]]:
    files = gather([folder])
    scripts, configs, launchers = (
        {str(path.relative_to(folder)) for path in paths} for paths in (files.scripts, files.configs, files.launchers)
    )
    return scripts, configs, launchers


@pytest.mark.parametrize("in_git", [True, False])
def test_a_folder_is_what_somebody_wrote(folder: Path, in_git: bool) -> None:
    if in_git:
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    scripts, configs, launchers = found(folder)
    assert scripts == {"train.py", "src/data.py"} | (set() if in_git else {"out/late.py"})
    assert configs == {"configs/sft.yaml", "configs/ds.json", "pyproject.toml"}
    assert launchers == {"run.sh", "job.sbatch"}


def test_what_is_too_large_for_a_script_is_read_only_where_it_was_named(folder: Path) -> None:
    large = folder / "generated.json"
    large.write_bytes(b" " * (LARGEST_BYTES + 1))
    assert "generated.json" not in found(folder)[1]
    assert gather([large]).configs == (large,)


@pytest.mark.parametrize(("first", "kind"), [("#!/usr/bin/env python3", "scripts"), ("#!/bin/bash -e", "launchers")])
def test_a_named_file_without_a_suffix_is_what_its_first_line_says(tmp_path: Path, first: str, kind: str) -> None:
    path = tmp_path / "launch"
    path.write_text(f"{first}\n")
    assert getattr(gather([path]), kind) == (path,) and gather([path]).count == 1
    path.write_bytes(b"\x7fELF")
    assert gather([path]).count == 0


def test_a_path_at_which_nothing_lies_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LintError, match="expected a file or a folder"):
        gather([tmp_path / "nothing.py"])
