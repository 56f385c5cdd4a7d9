"""A reference whose number now stands over another section is told; one that was renumbered with it is not."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from affidavit.claims.banner import insert, sections
from affidavit.cli.lint import command
from affidavit.lint.references import read_moved, read_references
from affidavit.lint.references.earlier import top_of

BEFORE = "# Sizing\n\n## 1 Cost\n\n## 2 Time\n\n## 3 Room\n"
AFTER = "# Sizing\n\n## 1 Cost\n\n## 2 Checks\n\n## 3 Time\n\n## 4 Room\n"
RUNS = "# Runs\n\nRead sizing.md §2 first.\n\nThen the rest.\n"
SAID = 'sizing.md §2 was "Time", which is §3 now'


def git(folder: Path, *arguments: str) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *name, *arguments], check=True, capture_output=True)


def commit(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "x")


def broken(folder: Path) -> list[str]:
    found = read_references(sorted(folder.glob("*.md")))
    assert {one.reference for one in found.broken} <= set(found.read), "what is told was examined"
    return [f"{one.reference.text}: {one.said}" for one in found.broken]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    top_of.cache_clear()
    git(tmp_path, "init", "-q")
    commit(tmp_path, sizing=BEFORE, runs=RUNS)
    return tmp_path


def moved(folder: Path) -> list[str]:
    return [one.said for one in read_moved(read_references(sorted(folder.glob("*.md"))))]


def test_a_renumbering_leaves_a_reference_behind(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert moved(project) == []
    (project / "sizing.md").write_text(AFTER, encoding="utf-8")
    assert moved(project) == [SAID], "in the working tree"
    commit(project, sizing=AFTER)
    assert moved(project) == [SAID], "in the last commit that touched it"
    commit(project, other="# Other\n")
    assert moved(project) == [SAID], "after commits that did not touch it"
    commit(project, sizing=f"{AFTER}\nAn afterthought.\n")
    assert moved(project) == [SAID], "after others that did"
    monkeypatch.chdir(project)
    judged = CliRunner().invoke(command, ["--json"], standalone_mode=False)
    assert judged.return_value == 0
    said = json.loads(judged.output)
    assert [one["verdict"] for one in said["findings"] if one["check"] == "references-resolve"] == ["REVIEW"]


@pytest.mark.parametrize(
    ("sizing", "runs"),
    [
        pytest.param(AFTER, RUNS.replace("§2", "§3"), id="renumbered with it"),
        pytest.param(AFTER, RUNS.replace("first", "(Checks) first"), id="written anew"),
        pytest.param(BEFORE.replace("Time", "Duration"), RUNS, id="renamed where it stands"),
        pytest.param(BEFORE.replace("Time", "Checks"), RUNS, id="gone altogether"),
        pytest.param(AFTER.replace("## 4 Room", "## 4 Time"), RUNS, id="told by no title alone"),
    ],
)
def test_what_is_right_is_not_told(project: Path, sizing: str, runs: str) -> None:
    commit(project, sizing=sizing, runs=runs)
    assert moved(project) == []


def test_what_is_broken_says_where_it_went(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(project, runs="# Runs\n\n[room](sizing.md#3-room)\n\nThe room: sizing.md §3.\n\nThe time: sizing.md §2.\n")
    commit(project, sizing="# Sizing\n\n## 1 Cost\n\n## 2 Checks\n\n## 4 Room\n\n## 5 Time\n")
    monkeypatch.chdir(project)
    judged = json.loads(CliRunner().invoke(command, ["--json"], standalone_mode=False).output)
    (found,) = (one for one in judged["findings"] if one["check"] == "references-resolve")
    assert (found["verdict"], [one["said"] for one in found["sites"]]) == (
        "FAIL",
        [
            'sizing.md has no heading #3-room; it was "Room", which is #4-room now',
            'sizing.md has no section 3; it was "Room", which is §4 now',
            'sizing.md §2 was "Time", which is §5 now',
        ],
    )


def test_a_banner_that_was_taken_out_is_missed(project: Path) -> None:
    digest = hashlib.sha256(BEFORE.encode()).hexdigest()
    chain = project / "affidavit.corrections" / digest
    chain.mkdir(parents=True)
    (chain / "annotations.jsonl").write_bytes(b"{}\n{}\n")
    first = insert(BEFORE, sections(BEFORE, "2")[0], "x", digest=digest, number=1)
    (project / "sizing.md").write_text(first, encoding="utf-8")
    assert broken(project) == [], "the second was said without a banner"
    commit(project, sizing=first)
    (project / "sizing.md").write_text(BEFORE, encoding="utf-8")
    said = [f"affidavit:correction {digest[:12]} #1: it was taken out, and what it corrects still stands"]
    assert broken(project) == said
    commit(project, sizing=BEFORE)
    assert broken(project) == said, "in a commit before"
    commit(project, sizing=BEFORE.replace("Time", "Duration"))
    assert broken(project) == [], "what was corrected is another text now"


def test_a_document_that_is_called_by_its_name_alone_is_followed(project: Path) -> None:
    (project / "docs").mkdir()
    commit(project, **{"docs/plan": BEFORE, "runs": "# Runs\n\nThe room is in plan.md §3.\n"})
    commit(project, **{"docs/plan": BEFORE.replace("3 Room", "4 Room")})
    found = read_references([project / "runs.md", project / "docs/plan.md"])
    assert not found.broken, "a guess is no proof"
    assert [one.said for one in read_moved(found)] == ['plan.md §3 was "Room", which is §4 now']


def test_lines_that_repeat_are_laid_beside_each_other(project: Path) -> None:
    commit(project, runs="a\n\nsizing.md §2\n\nb\n\nsizing.md §3\n\nc\n")
    commit(project, sizing=AFTER, runs="a\n\nsizing.md §3\n\nb\n\nsizing.md §4\n\nc\n")
    assert moved(project) == []


def test_a_line_that_names_the_section_that_it_reads_now_is_right(project: Path) -> None:
    commit(project, runs=RUNS.replace("§2", "§2 (Checks)"))
    commit(project, sizing=AFTER)
    assert moved(project) == []


def test_no_repository_and_a_shallow_one_are_quiet(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    commit(project, sizing=AFTER)
    shallow = tmp_path_factory.mktemp("shallow") / "clone"
    git(project, "clone", "-q", "--depth", "1", f"file://{project}", str(shallow))
    assert moved(shallow) == []
    (shallow / "sizing.md").write_text("# Sizing\n\n## 2 Time\n\n## 3 Checks\n", encoding="utf-8")
    assert moved(shallow) == ['sizing.md §2 was "Checks", which is §3 now'], "what it holds is known"
    plain = tmp_path_factory.mktemp("plain")
    (plain / "sizing.md").write_text(AFTER, encoding="utf-8")
    (plain / "runs.md").write_text(RUNS, encoding="utf-8")
    assert moved(plain) == []
    git(plain, "init", "-q")
    top_of.cache_clear()
    assert moved(plain) == [], "no commit yet"
