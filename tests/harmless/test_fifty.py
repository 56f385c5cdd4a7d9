"""Fifty seeded steps are bit for bit the same with and without us: losses, weights, random states, files, output."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from twice import Ran, Runner, script

LOOPS = ("plain", "iterable", "accumulated", "trainer", "sft")


@pytest.fixture(scope="module", params=["newer", "older"])
def runs(runner: Runner, request: pytest.FixtureRequest) -> tuple[Ran, Ran]:
    """The script twice on each stack of frameworks."""
    if request.param == "older":
        runner = replace(runner, interpreter=request.getfixturevalue("old_python"))
    return runner.bare(script("fifty.py")), runner.observed(script("fifty.py"))


@pytest.mark.parametrize("loop", LOOPS)
def test_fifty_steps_are_the_same(runs: tuple[Ran, Ran], loop: str) -> None:
    bare, observed = (run.said[loop] for run in runs)
    assert len(set(bare["losses"])) == 50, "the loop learnt nothing, so nothing was compared"  # type: ignore[index]
    assert observed == bare


def test_files_and_output_are_the_same(runs: tuple[Ran, Ran]) -> None:
    bare, observed = runs
    assert "saved/checkpoint-50/optimizer.pt" in bare.files()
    files, marks = observed.files(), {f"saved/checkpoint-{step}/affidavit.json" for step in (25, 50)}
    assert files.keys() - bare.files().keys() == marks, "a mark beside each checkpoint, and nothing else"
    assert {name: content for name, content in files.items() if name not in marks} == bare.files()
    assert _timeless(observed.stdout) == _timeless(bare.stdout)
    assert _timeless(observed.stderr) == _timeless(bare.stderr)
    assert not (observed.spool / "hello.refused").exists()


_SPEED = re.compile(r"'train_(runtime|\w+_per_second)': ('[^']*'|[\d.]+)|[\d.?]+ ?(it|examples)/s")


def _timeless(output: str) -> list[str]:
    """Return lines without what differs between any two runs: speeds, and how a progress bar got to its end."""
    lines = [_SPEED.sub("", line) for line in output.splitlines()]
    return [line for line in lines if line.strip() and not re.search(r"\d+%\|", line)]


@pytest.mark.parametrize(("episode", "loop"), tuple(enumerate(LOOPS)))
def test_it_was_observed(runs: tuple[Ran, Ran], episode: int, loop: str) -> None:
    """Equality proves nothing of an observer that was asleep."""
    observed = runs[1]
    kernels = {"trainer": "4 eager"}.get(loop, "4 flash")
    assert str(observed.known("attention.executed", episode)) == kernels
    rows = {"accumulated": 12, "trainer": 8}.get(loop, 4)
    assert observed.known("tokens.rows_examined", episode) == rows
    assert observed.known("adapter.kind", episode) == ("lora" if loop == "sft" else "none")
    assert observed.journal.episodes[episode].ended == "returned"
    assert observed.journal.closed == "exited"
