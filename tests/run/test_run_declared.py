"""A cache of the project's own is held against what its build makes of the raw rows today."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from affidavit.case import case_of
from affidavit.check import Verdict
from affidavit.check.engine import run
from affidavit.checks.declared_caches_rebuilt import declared_caches_rebuilt
from affidavit.fact.observation import Known
from affidavit.fact.values import Table, Value
from affidavit.record.declared import Declared
from affidavit.run.command import read_command
from affidavit.run.declared import declared_fact
from affidavit.settings import Settings

ROWS = 200
ENCODE = """
MASKED = {masked}

def row(chat):
    ids = [ord(letter) for letter in chat["text"]]
    return {{"ids": ids, "labels": [-100] * MASKED + ids[MASKED:]}}

def writes(chat):
    open("left-behind", "w").close()
    return row(chat)

def raises(chat):
    raise KeyError("text")

calls = 0

def counts(chat):
    global calls
    calls += 1
    return {{**row(chat), "labels": [calls]}}

def length(chat):
    return len(chat["text"])
"""
ENTRY = "cache/rows.jsonl"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cache").mkdir()
    chats = [{"text": f"chat number {number:03d}"} for number in range(ROWS)]
    (tmp_path / "chats.jsonl").write_text("".join(json.dumps(chat) + "\n" for chat in chats))
    (tmp_path / "train.py").write_text("")
    _encode(tmp_path, masked=2)
    return tmp_path


def _encode(project: Path, *, masked: int) -> None:
    (project / "encode.py").write_text(ENCODE.format(masked=masked))


def _build(project: Path) -> None:
    """Fill the cache as the script does, in a process of its own."""
    code = (
        "import encode, json; rows = map(json.loads, open('chats.jsonl'));"
        f"open({ENTRY!r}, 'w').writelines(json.dumps(encode.row(row)) + chr(10) for row in rows)"
    )
    subprocess.run([sys.executable, "-B", "-c", code], cwd=project, check=True)


def _row(project: Path, build: str = "encode:row", entry: str = ENTRY, seconds: float = 5.0) -> dict[str, object]:
    value = _table(project, build, entry, seconds)
    (row,) = value.records()
    return dict(row)


def _table(project: Path, build: str, entry: str, seconds: float = 5.0) -> Table:
    declared = Declared(name="chats", raw="chats.jsonl", entry=entry, build=build)
    settings = Settings(root=project, declared=(declared,), canary_seconds=seconds)
    command = read_command((sys.executable, "train.py"), cwd=project, environment=os.environ)
    fact = declared_fact(settings, command, os.environ)
    assert isinstance(fact.state, Known) and isinstance(fact.state.value, Table)
    return fact.state.value


def test_what_is_built_the_same_today_is_the_same(project: Path) -> None:
    _build(project)
    row = _row(project)
    assert (row["outcome"], row["examined"], row["bound"]) == ("same", ROWS, 0.0), row


def test_a_mask_that_changed_since_is_a_difference_in_the_labels(project: Path) -> None:
    _build(project)
    _encode(project, masked=3)
    os.utime(project / "encode.py", (2e9, 2e9))
    row = _row(project)
    assert (row["outcome"], row["fields"], row["edited"]) == ("different", "labels", "encode.py"), row


def test_raw_rows_that_came_later_are_missing_from_the_entry(project: Path) -> None:
    _build(project)
    with (project / "chats.jsonl").open("a") as file:
        file.write(json.dumps({"text": "a new one"}) + "\n")
    row = _row(project)
    assert (row["outcome"], row["first"]) == ("different", "200"), row
    assert row["why"] == "it has 200 rows, and 201 are to be built"


@pytest.mark.parametrize(
    ("build", "outcome", "why"),
    [
        ("encode:writes", "refused", "write: left-behind"),
        ("encode:raises", "raised", "KeyError"),
        ("encode:nothing", "raised", "AttributeError"),
        ("nowhere:row", "raised", "ModuleNotFoundError"),
        ("encode:counts", "not deterministic", ""),
    ],
)
def test_what_cannot_be_rebuilt_is_no_difference(project: Path, build: str, outcome: str, why: str) -> None:
    _build(project)
    row = _row(project, build)
    assert row["outcome"] == outcome, row
    assert str(row["why"]).startswith(why)
    assert not (project / "left-behind").exists()


def test_nothing_is_said_where_there_is_no_entry_and_nothing_done_where_it_is_switched_off(project: Path) -> None:
    assert _table(project, "encode:row", ENTRY).rows == ()
    _build(project)
    assert _row(project, seconds=0.0)["outcome"] == "switched off"


def test_arrays_and_shards_are_read(project: Path) -> None:
    numpy = pytest.importorskip("numpy")
    lengths = numpy.array([len(f"chat number {number:03d}") for number in range(ROWS)])
    numpy.save(project / "cache/lengths.npy", lengths)
    assert _row(project, "encode:length", "cache/*.npy")["outcome"] == "same"
    (project / "cache/shards").mkdir()
    for number in range(2):
        numpy.save(project / f"cache/shards/{number}.npy", lengths[100 * number : 100 * number + 100])
    row = _row(project, "encode:length", "cache/shards")
    assert (row["outcome"], row["served"]) == ("same", ROWS), row


OPENED = ("path", "use", "bytes", "modified")


@pytest.mark.parametrize(
    ("opened", "verdict"),
    [
        (("/home/ada/project/cache/1f.jsonl",), Verdict.FAIL),
        (("/home/ada/project/cache/2e.jsonl",), Verdict.PASS),  # a sound key: this run has built its own
        ((), Verdict.PASS),  # another script of this project
    ],
)
def test_an_entry_that_this_run_did_not_open_is_not_held_against_it(opened: tuple[str, ...], verdict: Verdict) -> None:
    case = declared_caches_rebuilt.example
    assert case is not None
    declared = case().value("cache.declared")
    assert isinstance(declared, Table)
    stale = declared.with_cell(0, "outcome", "different").with_cell(0, "different", 3)
    files = Table(OPENED, tuple((path, "read", 10, 1.0) for path in opened))
    facts: dict[str, Value] = {"cache.declared": stale, "cache.opened": files}
    assert run(declared_caches_rebuilt, case_of(run=facts)).verdict is verdict


def test_before_a_run_an_entry_that_differs_is_a_failure() -> None:
    case = declared_caches_rebuilt.example
    assert case is not None
    altered = declared_caches_rebuilt.sabotages[0].apply(case())
    assert run(declared_caches_rebuilt, altered).verdict is Verdict.FAIL
