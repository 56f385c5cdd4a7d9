"""What keeps a run unharmed is taken away, one thing at a time, and the tests beside this one would go red.

A plugin lays hands on the house from inside of the process; the comparison is the one that the real tests make.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from twice import Ran, Runner, plugin, script

HANDS = """
from affidavit.attach.instrument import Instrument, at
from affidavit.attach.moment import Batch

class Hands(Instrument):
    name = "hands"
    emits = ()
"""
DRAWS = """
    @at(Batch, sampled=True)
    def batch(self, moment, emit):
        import random, numpy, torch
        random.random(), numpy.random.rand(), torch.rand(3)
        torch.set_grad_enabled(False)
"""
NOTHING_KEPT = """
from contextlib import nullcontext
from affidavit.attach import seat
seat.neutral = lambda keepers: nullcontext()
"""
SHOWN = """
from affidavit.adapters import torch
torch.KEEPERS = tuple(keeper for keeper in torch.KEEPERS if keeper.__name__ != "hide")
"""
HOOKED_INSIDE = """
from affidavit.adapters.torch import batches
batches.is_called_inside = lambda model: False
"""
NOT_SKIPPED = """
from affidavit.adapters.torch import compiler
compiler._codes = lambda module: ()
"""
UNGUARDED = """
from affidavit.attach import seat
seat.Seat._call = lambda self, handle: handle()
"""
RAISES = """
    @at(Batch, sampled=True)
    def batch(self, moment, emit):
        raise RuntimeError("bent")
"""


def _bent(runner: Runner, folder: Path, source: str, *command: str) -> tuple[Ran, Ran]:
    bare = runner.bare(*command)
    assert bare.returncode == 0, bare.stderr
    return bare, runner.observed(*command, launch={"plugins": (plugin(folder, source),)})


def test_an_instrument_that_draws_changes_nothing(fresh_runner: Runner, tmp_path: Path) -> None:
    bare, observed = _bent(fresh_runner, tmp_path, HANDS + DRAWS, script("small.py"))
    assert {**observed.said, "told": None} == {**bare.said, "told": None}


def test_and_would_change_everything_if_nothing_were_kept(fresh_runner: Runner, tmp_path: Path) -> None:
    bare, observed = _bent(fresh_runner, tmp_path, NOTHING_KEPT + HANDS + DRAWS, script("small.py"))
    assert observed.returncode != 0 or observed.said["random"] != bare.said["random"]


def test_an_instrument_that_is_not_guarded_is_caught_at_the_adapters_door(fresh_runner: Runner, tmp_path: Path) -> None:
    bare, observed = _bent(fresh_runner, tmp_path, UNGUARDED + HANDS + RAISES, script("small.py"))
    assert observed.said["losses"] == bare.said["losses"]
    assert any("RuntimeError" in note for note in observed.journal.notes)


@pytest.mark.parametrize("case", ["dispatch mode", "around everything"])
def test_a_recorder_would_see_us_if_we_did_not_hide(fresh_runner: Runner, tmp_path: Path, case: str) -> None:
    bare, observed = _bent(fresh_runner, tmp_path, SHOWN + HANDS, script("profiled.py"), case)
    assert observed.said[case]["seen"] != bare.said[case]["seen"]  # type: ignore[index]
    assert observed.said[case]["weights"] == bare.said[case]["weights"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("bend", "case"),
    [(HOOKED_INSIDE, "recompiles in step 2, function around"), (NOT_SKIPPED, "wrapped")],
    ids=["a hook inside of a compiled function", "an audit hook that is compiled"],
)
def test_a_compiler_would_notice_us(fresh_runner: Runner, tmp_path: Path, bend: str, case: str) -> None:
    bare, observed = _bent(fresh_runner, tmp_path, bend + HANDS, script("compiled.py"), case)
    assert observed.said[case] != bare.said[case]
    assert observed.said[case]["weights"] == bare.said[case]["weights"]  # type: ignore[index]
