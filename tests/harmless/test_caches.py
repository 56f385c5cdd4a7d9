"""A run that is served from caches is the same run with a canary in it, whatever its functions do beside their work."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from twice import Ran, Runner, script

from affidavit.fact.values import Table


def _ran(runner: Runner, folder: Path, *, observed: bool) -> Ran:
    """Run in the same place as the other did: a cache's names are made of paths."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    how = {"cwd": folder, "environment": {"HF_HOME": str(folder / "hf"), "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}}
    command = script("caches.py")
    return runner.observed(command, **how) if observed else runner.bare(command, **how)


@pytest.fixture(scope="module")
def pair(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Ran]:
    folder = tmp_path_factory.mktemp("same") / "work"
    return _ran(runner, folder, observed=False), _ran(runner, folder, observed=True)


def test_the_run_is_the_same_to_the_last_byte(pair: tuple[Ran, Ran]) -> None:
    bare, observed = pair
    assert observed.said == bare.said
    assert bare.said["touched"] == []
    assert (observed.stdout, observed.stderr) == (bare.stdout, bare.stderr)


def test_what_was_served_was_looked_at(pair: tuple[Ran, Ran]) -> None:
    canary = pair[1].known("cache.canary")
    assert isinstance(canary, Table)
    told = {(str(row["cache"]), str(row["function"])): (row["outcome"], row["why"]) for row in canary.records()}
    assert told == {
        ("datasets.load_dataset", 'load_dataset("json") train'): ("same", ""),
        ("datasets.map", "tokenize"): ("same", ""),
        ("datasets.map", "work.busy"): ("same", ""),
        ("datasets.map", "work.pure"): ("same", ""),
        ("datasets.map", "work.drawing"): ("not deterministic", ""),
        ("datasets.map", "work.appending"): ("refused", "write: appended.txt"),
        ("datasets.map", "work.connecting"): ("refused", "network: socket.connect"),
        ("datasets.filter", "work.keep"): ("same", ""),
        ("joblib.Memory", "work.summed"): ("same", ""),
    }
