"""``affidavit report``: where the file lies, what is printed, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.desk import Desk


def page(desk: Desk, *words: str) -> str:
    """Return a report as it is written to stdout."""
    ended = desk.type("report", *words, "--output", "-")
    assert ended.exit_code == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize(("run", "failed"), [("clean", 0), ("eager", 2)])
def test_the_report_lies_in_the_folder_of_its_run(copied: Desk, run: str, failed: int) -> None:
    ended = copied.type("report", copied.runs[run])
    path, counts = ended.stdout.splitlines()
    assert ended.exit_code == 0 and counts.startswith("FINISHED, step ") and " PASS" in counts
    assert (f", {failed} FAIL" in counts) if failed else ("FAIL" not in counts)
    assert Path(path) == copied.root / ".affidavit/runs" / copied.runs[run] / "report.html"
    text = Path(path).read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and copied.runs[run] in text
    assert "No, blue.&lt;eos&gt;" in text and "\x1b" not in text and "\\x1b[31mred" in text


def test_a_shared_copy_lies_beside_it_and_holds_no_text_of_the_data(copied: Desk) -> None:
    ended = copied.type("report", copied.runs["users"], "--share")
    path = Path(ended.stdout.splitlines()[0])
    assert path.name == "report.shared.html"
    text = path.read_text(encoding="utf-8")
    assert "supervised-roles-reviewed" in text and "Shared copy" in text
    for said in ("blue", str(copied.root), "train.py", "narrator"):
        assert said not in text, said
    assert "narrator" in page(copied, copied.runs["users"])


def test_a_report_goes_where_it_is_asked_to(copied: Desk, tmp_path: Path) -> None:
    there = tmp_path / "mine.html"
    assert copied.type("report", "--output", str(there)).stdout.splitlines()[0] == str(there)
    assert there.read_text(encoding="utf-8") == page(copied)
    ended = copied.type("report", "--output", str(tmp_path / "nowhere" / "mine.html"))
    assert ended.exit_code == 2 and "No report was written." in ended.stderr and ended.stdout == ""


def test_a_correction_stands_first_and_what_it_fells_is_unknown(copied: Desk) -> None:
    run = copied.runs["clean"]
    words = ("--falls", "attention.kernels", "--survives", "tokens.*", "--reason", "another seat", "--author", "Ada")
    assert copied.type("annotate", run, *words).exit_code == 0
    text = page(copied, run)
    assert text.index("another seat") < text.index(f"<h1>{run}") and "a later annotation says that this falls" in text
    assert "another seat" not in page(copied, run, "--share")
    assert copied.type("annotate", run, "--falls", "*", "--reviewed-nothing-else", "--why", "x").exit_code == 0
    _, counts = copied.type("report", run).stdout.splitlines()
    assert ", RETRACTED · " in counts and counts.endswith(" UNKNOWN"), "no FAIL is no good news here"
    assert ", RETRACTED  " in copied.type("ls").stdout, "who looks for a run to build on reads the list"


def test_tokens_that_are_altered_are_not_shown(copied: Desk) -> None:
    (kept,) = (copied.root / ".affidavit/runs" / copied.runs["clean"] / "tokens").iterdir()
    kept.write_text(kept.read_text().replace("blue", "pink"))
    ended = copied.type("report", copied.runs["clean"], "--output", "-")
    assert ended.exit_code == 2 and "other content" in ended.stderr and "pink" not in ended.stdout
    kept.unlink()
    assert "is gone" in page(copied, copied.runs["clean"])


def test_a_run_that_is_over_and_not_sealed_is_sealed_first(copied: Desk) -> None:
    folder = copied.root / ".affidavit/runs" / copied.runs["clean"]
    for name in ("manifest.json", "head.json"):
        (folder / name).unlink()
    assert copied.type("report", copied.runs["clean"]).exit_code == 0
    assert (folder / "manifest.json").exists() and (folder / "report.html").exists()
    assert copied.type("report", "no-such-run").exit_code == 2
