"""What a person types to keep a number, and what is written then."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest
from tests.cli.desk import Desk

from affidavit.record.measurement import read

PRINTS = "print('took 145.5 s')"


def test_a_command_is_measured_and_its_line_is_kept(project: Desk) -> None:
    (project.root / "encode.py").write_text("def rebuild():\n    return 1\n")
    words = ("measure", "encode-cache-rebuild", "--covers", "encode.py:rebuild", "--repeats", "2", "--seat", "cold")
    said = project.start(*words, "--", sys.executable, "-c", PRINTS)
    assert said.returncode == 0 and said.stderr.count("took 145.5 s") == 2, said.stderr
    assert said.stdout.startswith("encode-cache-rebuild ") and "(sd), n = 2" in said.stdout
    assert "covers  encode.py:rebuild" in said.stdout and "seat    cold" in said.stdout
    again = project.start("measure", "encode-cache-rebuild", "--", sys.executable, "-c", PRINTS)
    assert "before  " in again.stdout and "never goes stale by itself" in again.stdout
    kept = read(project.root / "measurements.jsonl")
    assert [one.n for one in kept.history("encode-cache-rebuild")] == [2, 1] and not kept.problems


def test_a_number_that_is_printed_is_read(project: Desk) -> None:
    read_it = ("--unit", "s", "--read", r"took ([\d.]+) s", "--json")
    said = project.start("measure", "encode-cache-rebuild", *read_it, "--", sys.executable, "-c", PRINTS)
    (one,) = json.loads(said.stdout)["measurements"]
    assert (one["value"], one["unit"], one["n"]) == (145.5, "s", 1)
    many = project.type("measure", "rows", "--unit", "rows", "--read", "\\d+", "--", "echo", "12345678")
    assert many.stdout.startswith("rows 12,345,678 rows, n = 1")
    told = project.start(
        "measure", "rows", "--unit", "rows", "--read-json", "r.json:rows", "--", sys.executable, "-c", PRINTS
    )
    assert told.returncode == 2 and "r.json" in told.stderr and "Not affected" in told.stderr


def test_a_command_that_fails_is_refused_and_nothing_is_written(project: Desk) -> None:
    failed = project.start("measure", "encode-cache-rebuild", "--", sys.executable, "-c", "raise SystemExit(7)")
    assert failed.returncode == 2 and "saw exit code 7" in failed.stderr
    assert project.type("measure", "encode-cache-rebuild", "--", "no-such-program").exit_code == 127
    assert not (project.root / "measurements.jsonl").exists()


def test_a_path_is_told_from_where_one_stands(project: Desk) -> None:
    (project.root / "src").mkdir()
    (project.root / "src/encode.py").write_text("def rebuild():\n    return 1\n")
    inside = replace(project, root=project.root / "src")
    for number, told in enumerate(("encode.py", "../src/encode.py", "src/encode.py", "encode")):
        said = inside.type("measure", f"a-{number}", "--covers", f"{told}:rebuild", "--", "true")
        assert said.exit_code == 0, said.output
    kept = read(project.root / "measurements.jsonl").measured
    assert [set(one.code) for one in kept] == [{"src/encode.py:rebuild"}] * 4


def test_what_cannot_be_kept_is_not_measured(project: Desk) -> None:
    (project.root / "measurements.jsonl").mkdir()
    said = project.type("measure", "a-name", "--", sys.executable, "-c", "open('ran', 'w')")
    assert said.exit_code == 2 and "saw Is a directory" in said.stderr and not (project.root / "ran").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("Not Kebab", "--", "true"), "kebab-case"),
        (("a-name",), "a command"),
        (("a-name", "--unit", "parsecs", "--", "true"), "wall time"),
        (("a-name", "--read", "(", "--unit", "s", "--", "true"), "--read:"),
        (("a-name", "--read", "x", "--", "true"), "--unit says"),
        (("a-name", "--read", "x", "--read-json", "y", "--unit", "s", "--", "true"), "two ways"),
        (("a-name", "--import-hyperfine", "train.py", "--", "true"), "an import takes"),
        (("a-name", "--import-hyperfine", "train.py", "--unit", "ms"), "in seconds"),
    ],
)
def test_what_cannot_be_meant_is_a_question_of_usage(project: Desk, words: tuple[str, ...], says: str) -> None:
    said = project.type("measure", *words)
    assert said.exit_code == 2 and says in said.output


def test_an_import_is_not_doubled(project: Desk) -> None:
    (project.root / "h.json").write_text('{"results": [{"command": "encode", "times": [1, 2, 3]}]}')
    for _ in range(2):
        said = project.type("measure", "old", "--import-hyperfine", "h.json", "--covers", "train.py")
        assert said.exit_code == 0 and said.stdout.startswith("old-encode 2 s ± 1 (sd), n = 3"), said.output
    (kept,) = read(project.root / "measurements.jsonl").measured
    assert set(kept.code) == {"train.py"} and "hyperfine" in kept.note and said.stderr == ""


def test_a_file_that_git_ignores_is_no_use_to_others(project: Desk) -> None:
    (project.root / ".gitignore").write_text("*.jsonl\n")
    said = project.type("measure", "a-name", "--", "true")
    assert said.exit_code == 0 and "measurements.jsonl is ignored by git" in said.stderr
