"""What is no run of ours is corrected as a person types it, every reader shows the fold; an edited record is a FAIL."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.cli.desk import CLEAN, Desk, desk

from affidavit.fact.values import Table

DOCUMENT = """\
# Sizing

## 5 Kernels

A table.

## 6. Cache

It takes [4.3 h](claim:rebuild).
"""
SPLIT = ("--falls", "section:6", "--falls", "claim:*", "--survives", "section:5", "--why", "measured: 145.5 s")
ADA = ("--author", "Ada")
OPENED = ("path", "use", "bytes", "modified")


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A project with one run, and a second that opened what the first had saved."""
    made = desk(tmp_path_factory.mktemp("held") / "project")
    assert made.train(CLEAN).returncode == 0
    (first,) = made.run_ids
    place = made.root / "out" / "checkpoint-3"
    place.mkdir(parents=True)
    (place / "trainer_state.json").write_text("{}")
    mark = {"format": 1, "affidavit": "0.1.0", "run": first, "attempt": 0, "recipe": "", "step": 3, "time": ""}
    (place / "affidavit.json").write_text(json.dumps({**mark, "commit": "", "tree": ""}))
    opened = Table(OPENED, ((str(place / "trainer_state.json"), "read", 2, 1.0),))
    assert made.train({**CLEAN, "cache.opened": opened}).returncode == 0
    second = next(run for run in made.run_ids if run != first)
    made.runs.update(first=first, second=second)
    return made


@pytest.fixture
def project(held: Desk, tmp_path: Path) -> Desk:
    shutil.copytree(held.root, tmp_path / "project")
    made = Desk(tmp_path / "project", environment=dict(held.environment), runs=dict(held.runs))
    (made.root / "sizing.md").write_text(DOCUMENT)
    return made


def test_a_document_is_corrected_by_its_sections_and_claims(project: Desk) -> None:
    ended = project.type("annotate", "sizing.md", *SPLIT, *ADA)
    assert ended.exit_code == 0, ended.output
    lines = [" ".join(line.split()) for line in ended.stdout.splitlines()]
    assert lines[:4] == [
        "erratum #1 of sizing.md",
        "falls claim:rebuild, section:6",
        "survives section:5",
        "not reviewed section:sizing, sizing.md",
    ]
    assert lines[4].startswith("kept in affidavit.corrections/") and lines[4].endswith("commit it")
    assert (project.root / "sizing.md").read_text() == DOCUMENT
    shown = " ".join(project.type("show", "sizing.md").stdout.split())
    assert "section:6 FALLS since #1: measured: 145.5 s (was: Cache)" in shown
    assert "survives section:5" in shown and "not reviewed section:sizing" in shown
    assert "no training was seen" not in shown, "a document is no run"


def test_a_card_falls_by_its_keys_and_whence_tells_it_first(project: Desk) -> None:
    card = project.root / "card"
    card.mkdir()
    (card / "config.json").write_text(json.dumps({"learning_rate": 0.01, "rank": 8}))
    (card / "model.safetensors").write_bytes(b"weights")
    falls = ("--falls", "config.json:learning_rate", "--survives", "config.json:rank", "--why", "the log says 1e-4")
    assert project.type("annotate", "card", *falls, *ADA).exit_code == 0
    ended = project.type("whence", "card")
    assert ended.exit_code == 1
    told = " ".join(ended.stdout.split())
    assert told.startswith("erratum #1 (Ada, ") and "falls config.json:learning_rate" in told
    assert "not reviewed config.json, model.safetensors" in told
    said = project.document("show", "card")
    assert {one["name"]: (one["standing"], one["said"]) for one in said["names"]}["config.json:learning_rate"] == (
        "FALLS since #1: the log says 1e-4",
        "0.01",
    )


def test_a_copied_chain_corrects_nothing_else(project: Desk) -> None:
    assert project.type("annotate", "sizing.md", *SPLIT, *ADA).exit_code == 0
    (chain,) = (project.root / "affidavit.corrections").iterdir()
    other = project.root / "other.md"
    other.write_text(DOCUMENT.replace("4.3", "4.4"))
    import hashlib

    shutil.copytree(chain, chain.with_name(hashlib.sha256(other.read_bytes()).hexdigest()))
    for words in (("show", "other.md"), ("verify", "other.md"), ("annotate", "other.md", *SPLIT, *ADA)):
        ended = project.type(*words)
        assert ended.exit_code == 2 and "nothing was said of this artifact" in " ".join(ended.stderr.split()), words


def test_the_chain_of_a_file_is_verified_by_naming_the_file(project: Desk) -> None:
    assert project.type("annotate", "sizing.md", *SPLIT, *ADA).exit_code == 0
    said = project.document("verify", "sizing.md")
    assert said["standing"] == "holds" and said["run"].startswith("artifact-")
    (chain,) = (project.root / "affidavit.corrections").iterdir()
    annotations = chain / "annotations.jsonl"
    annotations.write_bytes(annotations.read_bytes().replace(b"145.5", b"200.0"))
    assert project.type("verify", "sizing.md").exit_code == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--falls", "section:9", "--why", "x"), 'nothing named "section:9"'),
        (("--falls", "section:6", "--why", "x"), "--reviewed-nothing-else"),
        (("--falls", "section:6", "--survives", "section:*", "--why", "x"), "both falls and survives"),
        (("--falls", "section:6", "--reviewed-nothing-else"), "it has no reason"),
        (("--kind", "supersedes", "--why", "x"), "what takes the record's place"),
        (("--kind", "note", "--by", ".", "--why", "x"), "its kind is note, and it says what takes"),
        (("--by", "nowhere", "--why", "x"), 'run "nowhere"'),
        (("--by", "./sizing.md", "--why", "x"), "gives way to itself"),
        (("--kind", "retraction", "--falls", "section:6", "--reviewed-nothing-else", "--why", "x"), "a part falls"),
    ],
)
def test_what_cannot_be_read_one_way_is_refused_and_leaves_nothing(
    project: Desk, words: tuple[str, ...], why: str
) -> None:
    ended = project.type("annotate", "sizing.md", *words, *ADA)
    assert ended.exit_code == 2 and why in " ".join(ended.stderr.split())
    if "--by" not in words:
        assert "annotation of sizing.md: " in ended.stderr
        assert "It has claim:rebuild, section:5, section:6, section:sizing, sizing.md." in ended.stderr
    assert not list(project.root.glob("affidavit.corrections/*"))


def test_each_reader_shows_what_fell_and_what_it_was(project: Desk) -> None:
    first, second = project.runs["first"], project.runs["second"]
    words = ("--falls", "attention.executed", "--survives", "tokens.*", "--reason", "another seat", *ADA)
    said = project.document("annotate", first, *words)
    assert said["kind"] == "erratum" and "batch.*" in said["not_reviewed"], "--reason is the older word for --why"
    made = project.document("annotate", first, "--by", "last", "--why", "run again", *ADA)
    assert (made["kind"], made["by"]) == ("supersedes", second), "what is the last run today is not tomorrow"
    shown = " ".join(project.type("show", first, "--facts").stdout.split())
    assert "attention.executed FALLS since #1: another seat was 48 flash" in shown
    assert "attention.kernels FALLS since #1 with attention.executed: another seat was flash" in shown
    compared = " ".join(project.type("diff", first, second).stdout.split())
    assert "A: attention.executed FALLS since #1: another seat; it was 48 flash" in compared
    document = project.document("show", first)
    facts = {one["term"]: one for one in document["facts"]}
    assert facts["attention.executed"]["was"]["value"] and "was" not in facts["batch.effective"]
    assert [one["kind"] for one in document["annotations"]] == ["erratum", "supersedes"]
    assert document["annotations"][0]["not_reviewed"] == said["not_reviewed"]
    assert "attention.executed" in project.document("accept", first, "--dry-run")["fell"]
    assert "so not accepted: attention.executed," in project.type("accept", first, "--dry-run").stdout
    page = project.type("report", first, "--output", "-").stdout
    assert "FALLS since #1: another seat</span>" in page
    assert 'it was: </small><span class="said">48 flash' in page.replace("\n", "")
    shared = project.type("report", first, "--share", "--output", "-").stdout
    assert "another seat" not in shared and "run again" not in shared, "a person's words are withheld"


def test_tokens_that_fell_are_not_shown_as_if_they_stood(project: Desk) -> None:
    first = project.runs["first"]
    falls = ("--falls", "tokens.*", "--survives", "batch.*", "--why", "another tokenizer", *ADA)
    assert project.type("annotate", first, *falls).exit_code == 0
    ended = project.type("tokens", first)
    assert "FALLS since #1: another tokenizer" in " ".join(ended.stdout.split()) and "⟦" not in ended.stdout


def _of(project: Desk, run: str) -> tuple[str, str]:
    (found,) = [one for one in project.document("show", run)["findings"] if one["check"] == "record-untouched"]
    return found["verdict"], found["message"]


def test_what_a_run_builds_on_is_verified_whenever_it_is_judged(project: Desk) -> None:
    first, second = project.runs["first"], project.runs["second"]
    assert _of(project, first)[0] == "NOT_APPLICABLE", "it builds on nothing"
    assert _of(project, second)[0] == "PASS"
    path = project.root / ".affidavit" / "runs" / first / "manifest.json"
    raw = path.read_bytes()
    path.unlink()
    path.write_bytes(raw.replace(b'"flash"', b'"maths"'))
    verdict, message = _of(project, second)
    assert verdict == "FAIL" and f"the record of checkpoint {first} as it was sealed" in message
    path.unlink()
    path.write_bytes(raw)
    assert _of(project, second)[0] == "PASS"
    shutil.rmtree(path.parent)
    assert _of(project, second)[0] == "NOT_APPLICABLE", "a run that is gone says nothing"


def test_what_is_derived_from_a_fallen_fact_is_said_to_fall_too(project: Desk) -> None:
    words = ("--falls", "attention.executed", "--survives", "tokens.*", "--why", "another seat", *ADA)
    lines = project.type("annotate", project.runs["first"], *words).stdout.splitlines()
    assert lines[2].split() == ["falls", "too", "attention.kernels,", "derived", "from", "it"]


def test_the_corrections_of_a_file_are_signed_and_remembered_as_a_runs_are(tmp_path: Path) -> None:
    signed = desk(tmp_path / "project")
    signed.environment["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    assert signed.type("key", "new").exit_code == 0
    seal = '[seal]\nkey = "affidavit"\ntrusted = ["affidavit.pub"]\nwitness = "git"\n'
    (signed.root / "affidavit.toml").write_text(seal)
    (signed.root / "sizing.md").write_text(DOCUMENT)
    stages = []
    for section in ("6", "5"):
        words = ("--falls", f"section:{section}", "--reviewed-nothing-else", "--why", "measured again", *ADA)
        ended = signed.type("annotate", "sizing.md", *words)
        assert ended.exit_code == 0 and ended.stderr == ""
        (chain,) = (signed.root / "affidavit.corrections").iterdir()
        stages.append(shutil.copytree(chain, tmp_path / f"stage-{section}"))
    said = signed.document("verify", "sizing.md")
    held = {one["what"]: one["standing"] for one in said["checked"]}
    assert (held["signature"], held["signed head"], held["git witness"]) == ("holds", "holds", "holds")
    assert said["summary"] == "All of it holds."
    shutil.rmtree(chain)
    shutil.copytree(stages[0], chain)  # the older state whole, its signatures with it
    said = signed.document("verify", "sizing.md")
    held = {one["what"]: one["standing"] for one in said["checked"]}
    assert (held["signature"], held["git witness"]) == ("holds", "contradicts")


def test_a_rehearsal_that_was_edited_is_told_and_nothing_of_it_is_used(tmp_path: Path) -> None:
    made = desk(tmp_path / "project")
    assert made.train(CLEAN, verb="preflight").returncode == 0
    (rehearsed,) = made.run_ids
    assert made.train(CLEAN).returncode == 0
    (run,) = {*made.run_ids} - {rehearsed}
    assert _of(made, run)[0] == "PASS"
    path = made.root / ".affidavit" / "runs" / rehearsed / "manifest.json"
    raw = path.read_bytes()
    path.unlink()
    path.write_bytes(raw.replace(b'"flash"', b'"maths"'))
    verdict, message = _of(made, run)
    assert verdict == "FAIL" and f"the record of rehearsal {rehearsed}" in message
    assert "rehearsal" not in made.document("show", run)["roles"]
