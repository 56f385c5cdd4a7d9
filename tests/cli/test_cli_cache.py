"""``affidavit cache``: exit codes and sentences, on a user's module that only a child imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from affidavit.cache.preimage import Part, Preimage, digest_of
from affidavit.cache.probe.probed import kept
from affidavit.cache.store import Store

MODULE = """
import os
print("imported", file=open(os.environ["SEEN"], "a"))
from dataclasses import dataclass

@dataclass(frozen=True)
class Config:
    mask: tuple[str, ...] = ("Mallory",)
    length: int = 9
    log_every: int = 10

def encode(row, config: Config):
    print("a word of the user's")
    return {"text": row["text"][: config.length], "lit": row["speaker"] not in config.mask}

def crippled(config):
    return str((config.length, config.log_every))

def whole(config):
    return str(config)

def drawn(row):
    import random
    return random.random()

def narrow(row, mode="near"):
    return row if mode != "far" else 1

def said():
    return "v1"
"""
ROWS = [{"text": f"hello there {number}", "speaker": ["alice", "Mallory"][number % 2]} for number in range(20)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "enc.py").write_text(MODULE)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "mode.json").write_text('{"mode": "near"}')
    (tmp_path / "affidavit.toml").write_text("")
    return tmp_path


def typed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SEEN": str(folder / "seen"), "COLUMNS": "200", "OMP_NUM_THREADS": "1"}
    environment.pop("AFFIDAVIT_CACHE", None)
    argv = [sys.executable, "-m", "affidavit.cli", "cache", *words]
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_fault_is_told_and_kept_and_the_module_is_imported_by_one_child(folder: Path) -> None:
    ended = typed(folder, "probe", "enc:encode", "--rows", "rows.jsonl", "--key", "enc:crippled")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    said = " ".join(ended.stdout.split())
    assert "FAULT config mask: lengthened by" in said and "and the key does not." in said
    assert "OVER-KEYED config log_every: on none of 20 rows did the output move" in said
    assert (folder / "seen").read_text() == "imported\n"
    assert "a word of the user's" not in ended.stdout
    (found,) = kept(folder / ".affidavit" / "cache")
    assert (found.function, found.key, list(found.sources)) == (
        "enc:encode",
        "enc:crippled",
        ["enc.crippled", "enc.encode"],
    )


@pytest.mark.parametrize("key", [(), ("--key", "enc:whole")])
def test_a_key_that_covers_ends_well(folder: Path, key: tuple[str, ...]) -> None:
    ended = typed(folder, "probe", "enc:encode", "--rows", "rows.jsonl", "--json", *key)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    said = json.loads(ended.stdout)
    assert {one["name"]: one["verdict"] for one in said["found"]} == {
        "mask": "COVERED",
        "length": "COVERED",
        "log_every": "OVER-KEYED",
    }


def test_what_is_not_proven_ends_with_4_and_a_witness_decides(folder: Path) -> None:
    order = ("probe", "enc:narrow", "--rows", "rows.jsonl", "--key", "enc:said", "--config", "mode.json")
    ended = typed(folder, *order)
    assert ended.returncode == 4 and "a value as witness" in " ".join(ended.stdout.split())
    assert typed(folder, *order, "--witness", 'mode="far"').returncode == 1
    assert typed(folder, *order, "--irrelevant", "mode=nobody sets it").returncode == 0


def test_a_function_that_draws_is_an_answer_and_a_name_that_is_not_there_a_slip(folder: Path) -> None:
    drawn = typed(folder, "probe", "enc:drawn", "--rows", "rows.jsonl")
    assert drawn.returncode == 4 and "the same output from the same input" in drawn.stderr
    slip = typed(folder, "probe", "enc:encod", "--rows", "rows.jsonl")
    assert slip.returncode == 2 and "no attribute 'encod'" in slip.stderr
    assert typed(folder, "probe", "enc:encode", "--rows", "none.jsonl").returncode == 2
    assert typed(folder, "probe", "enc:encode", "--rows", "rows.jsonl", "--witness", "mask").returncode == 2


def test_nothing_of_the_users_is_written(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    typed(folder, "probe", "enc:encode", "--rows", "rows.jsonl")
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "seen"}
    assert after == before


# --- explain ------------------------------------------------------------------------------------------------------


def _entry(folder: Path, **parts: str) -> str:
    store = Store(folder / ".affidavit" / "cache")
    said = tuple(Part("config", name, digest_of(value.encode()), value) for name, value in parts.items())
    with store.building(Preimage(said)) as build:
        return build.publish((), form="rows", facts={}).key


def test_a_miss_is_told_part_by_part(folder: Path) -> None:
    one, other = _entry(folder, mask="none", length="9"), _entry(folder, mask="Mallory", length="9")
    ended = typed(folder, "explain", one[7:15], str(folder / ".affidavit/cache" / other[7:]))
    assert ended.returncode == 0, ended.stderr
    assert "config mask was none, is Mallory" in ended.stdout and "length" not in ended.stdout
    assert "the same in both: 1 of 2" in ended.stdout
    assert "a hit: every part of the key is the same" in typed(folder, "explain", one, one).stdout


def test_an_entry_is_held_against_what_is_here_now(folder: Path) -> None:
    one = _entry(folder, mask="none")
    said = ("explain", one[7:19], "now", "--function", "enc:encode", "--rows", "rows.jsonl", "--json")
    found = json.loads(typed(folder, *said).stdout)
    assert found["hit"] is False
    assert {"kind": "config", "name": "mask", "says": "config mask was none, is ('Mallory',)"} in found["changes"]


def test_an_entry_that_is_not_there_is_named(folder: Path) -> None:
    assert "ffff: expected an entry's folder or its key" in typed(folder, "explain", "ffff", "eeee").stderr
    assert typed(folder, "explain", "ffff", "now").returncode == 2


# --- audit --------------------------------------------------------------------------------------------------------


def _stored(folder: Path, stale: int = 0) -> None:
    rows = [{"text": row["text"][:9], "lit": row["speaker"] != "Mallory"} for row in ROWS]
    for row in rows[:stale]:
        row["lit"] = None
    (folder / "entry.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_an_audit_of_a_cache_of_somebodys_own(folder: Path) -> None:
    order = ("audit", "entry.jsonl", "--function", "enc:encode", "--raw", "rows.jsonl")
    _stored(folder)
    fresh = typed(folder, *order, "--rows", "10", "--seed", "1")
    assert fresh.returncode == 0, fresh.stderr
    assert "0 of 10 rows differ: with 95 % confidence fewer than 20 % of rows are stale" in fresh.stdout
    _stored(folder, stale=2)
    stale = typed(folder, *order)
    assert stale.returncode == 1
    assert "2 of 20 rows differ: every row was recomputed" in stale.stdout and "first: row 0, 1; in lit" in stale.stdout


def test_an_audit_needs_a_stored_row_for_each_raw_one(folder: Path) -> None:
    _stored(folder)
    (folder / "fewer.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    ended = typed(folder, "audit", "entry.jsonl", "--function", "enc:encode", "--raw", "fewer.jsonl")
    assert ended.returncode == 2 and "20 in the entry and 1 in fewer.jsonl" in ended.stderr
