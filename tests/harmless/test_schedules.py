"""A learning rate moves as it would without us, in whatever way it moves, and what is told of it is what was used."""

from __future__ import annotations

from typing import Any, cast

import pytest
from twice import Ran, Runner, script

from affidavit.fact.values import Series

LOOPS = {
    "counted": "LambdaLR",
    "one cycle": "OneCycleLR",
    "plateau": "ReduceLROnPlateau",
    "by hand": "none",
    "in a tensor": "none",
}


@pytest.fixture(scope="module")
def runs(runner: Runner) -> tuple[Ran, Ran]:
    return runner.bare(script("scheduled.py")), runner.observed(script("scheduled.py"))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_schedule_does_the_same(runs: tuple[Ran, Ran], loop: str) -> None:
    bare, observed = (run.said[loop] for run in runs)
    assert observed == bare


@pytest.mark.parametrize("loop", LOOPS)
def test_the_rates_are_those_that_were_used(runs: tuple[Ran, Ran], loop: str) -> None:
    episode = list(LOOPS).index(loop)
    used = cast(dict[str, Any], runs[1].said[loop])["rates"]
    rates = runs[1].known("schedule.rates", episode)
    assert isinstance(rates, Series) and rates.x == tuple(range(1, len(used) + 1)) and list(rates.y) == used
    assert runs[1].known("schedule.kind", episode) == LOOPS[loop]
