"""To hear names changes no call, no object and no error, and shows nobody another signature."""

from __future__ import annotations

import pytest
from twice import Ran, Runner, script

from affidavit.fact.values import Table


@pytest.fixture(scope="module")
def runs(runner: Runner) -> tuple[Ran, Ran]:
    return runner.bare(script("names.py")), runner.observed(script("names.py"))


def test_every_call_does_what_it_did(runs: tuple[Ran, Ran]) -> None:
    bare, observed = (run.said for run in runs)
    assert observed.keys() == bare.keys()
    for what, came in bare.items():
        assert observed[what] == came, what


def test_nothing_is_printed(runs: tuple[Ran, Ran]) -> None:
    bare, observed = ([line for line in run.stderr.splitlines() if "it/s" not in line] for run in runs)
    assert observed == bare
    assert len(runs[0].stdout.splitlines()) == len(runs[1].stdout.splitlines())


def test_the_names_were_heard(runs: tuple[Ran, Ran]) -> None:
    """All but those that the script reads back, and what was loud by itself."""
    swallowed = runs[1].known("names.swallowed")
    assert isinstance(swallowed, Table)
    heard = set(swallowed.column("name"))
    assert {"truncaton", "enable_thinkng", "temprature", "load_in_4bits", "attn_implementaton"} <= heard
    assert "attention_maks" in heard
    assert heard.isdisjoint({"sliding_windw", "pading_side", "gates", "shout", "foo"})
