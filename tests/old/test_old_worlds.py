"""On the older stack every world's fault is caught too, every clean twin passes, and nothing else cries.

The scripts are those of ``tests/world``, all of them and word for word; what cannot be there has its reason here.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from server import Server
from worlds import QUIET, SCRIPTS, assert_all_quiet, assert_own_check_spoke, judged, known_terms

EXCEPTED: dict[str, str] = {}
"""Scripts that do not run on the older stack or mean something else there, and why: ``world/script``, ``quiet/…``."""
COMPARED = (
    "adapter-trained/clean",
    "supervised-roles-reviewed/clean",
    "plain-loop/clean",
    "attention-as-requested/clean_encoder",
)
"""Scripts that between them have something for every instrument."""
NEWER_ONLY: dict[str, str] = {}
"""Facts that the older stack has no place for, and why."""


@pytest.mark.parametrize("script", sorted(SCRIPTS.keys() - EXCEPTED.keys()))
def test_a_fault_is_caught_and_its_twin_is_quiet(old_server: Server, tmp_path: Path, script: str) -> None:
    assert_own_check_spoke(script, judged(old_server, tmp_path, SCRIPTS[script]))


@pytest.mark.parametrize("script", sorted(QUIET.keys() - {name.partition("/")[2] for name in EXCEPTED}))
def test_a_run_that_no_check_is_about_is_quiet(old_server: Server, tmp_path: Path, script: str) -> None:
    assert_all_quiet(judged(old_server, tmp_path, QUIET[script]))


@pytest.mark.parametrize("script", COMPARED)
def test_every_fact_of_the_newer_stack_is_read(
    world_server: Server, old_server: Server, tmp_path: Path, script: str
) -> None:
    known = {}
    for stack, server in {"newer": world_server, "older": old_server}.items():
        (tmp_path / stack).mkdir()
        judged(server, tmp_path / stack, SCRIPTS[script])
        known[stack] = known_terms(tmp_path / stack)
    assert len(known["newer"]) > 10
    assert {term for term, _ in known["newer"] - known["older"]} <= NEWER_ONLY.keys()


def test_what_is_excepted_exists() -> None:
    assert EXCEPTED.keys() <= SCRIPTS.keys() | {f"quiet/{script}" for script in QUIET}
