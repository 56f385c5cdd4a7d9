"""On the older stack every world's fault is caught too, every clean twin passes, and nothing else cries.

The scripts are those of ``tests/world``, all of them and word for word; what cannot be there has its reason here.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from server import Server
from worlds import QUIET, SCRIPTS, assert_all_quiet, assert_own_check_spoke, judged, known

from affidavit.fact.observation import Aspect
from affidavit.fact.term import UNSTATED

LOADED_IN_32 = "transformers 4 loads a checkpoint in 32 bits where no type is named: the fault cannot happen"
NO_ROW_LEFT_OUT = "TRL 0.24 leaves no row out, with a label or without"
EXCEPTED = {
    "columns-reach-model/fault_unset": "TRL 0.24 hands the mask to its collator; whether that reads it is not seen",
    "loader-as-requested/fault": "transformers 4 refuses to group a stream by length",
    "master-weights-kept/fault": LOADED_IN_32,
    "names-consumed/fault_encode": "transformers 4 refuses a name that its encoder does not know",
    "precision-as-requested/fault_checkpoint": LOADED_IN_32,
    "precision-as-requested/fault_late": "transformers 4 asks the arguments again when it computes, and obeys",
    "rows-survive-preparation/clean": NO_ROW_LEFT_OUT,
    "rows-survive-preparation/fault": NO_ROW_LEFT_OUT,
    "trained-weights-move/fault": "the norms of a Gemma 3 begin at zero, where 16 bits hold the smallest update",
    "warmup-ends-within-run/clean": "transformers 4 takes a share of warm-up by another name; see older_names.py",
}
"""Scripts that do not run on the older stack, or in which no fault happens there, and why; all are run."""
SCRIPT = Path(__file__).parent / "scripts/older_names.py"
ASKED = {
    "schedule.warmup_steps": 3,
    "loader.sampler": "LengthGroupedSampler",
    "model.checkpointing": "off",
}
"""What it asks for by an older name, in ours."""
COMPARED = (
    "adapter-trained/clean",
    "supervised-roles-reviewed/clean",
    "plain-loop/clean",
    "attention-as-requested/clean_encoder",
)
"""Scripts that between them have something for every instrument."""
NEWER_ONLY: dict[str, str] = {}
"""Facts that the older stack has no place for, and why."""


def _all(scripts: Iterable[str]) -> list[Any]:
    """Every script; one that is excepted is expected to fail, and fails the test as soon as it does not."""
    return [pytest.param(name, marks=_excepted(name)) for name in scripts]


def _excepted(name: str) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.xfail(reason=EXCEPTED[name], strict=True),) if name in EXCEPTED else ()


@pytest.mark.parametrize("script", _all(SCRIPTS))
def test_a_fault_is_caught_and_its_twin_is_quiet(old_server: Server, tmp_path: Path, script: str) -> None:
    assert_own_check_spoke(script, judged(old_server, tmp_path, SCRIPTS[script]))


@pytest.mark.parametrize("script", _all(QUIET))
def test_a_run_that_no_check_is_about_is_quiet(old_server: Server, tmp_path: Path, script: str) -> None:
    assert_all_quiet(judged(old_server, tmp_path, QUIET[script]))


@pytest.mark.parametrize("script", COMPARED)
def test_every_fact_of_the_newer_stack_is_read(
    world_server: Server, old_server: Server, tmp_path: Path, script: str
) -> None:
    read = {}
    for stack, server in {"newer": world_server, "older": old_server}.items():
        (tmp_path / stack).mkdir()
        judged(server, tmp_path / stack, SCRIPTS[script])
        read[stack] = known(tmp_path / stack)
    assert len(read["newer"]) > 10
    assert {term for term, _ in read["newer"].keys() - read["older"].keys()} <= NEWER_ONLY.keys()


def test_what_is_asked_by_an_older_name_is_heard(old_server: Server, tmp_path: Path) -> None:
    findings = judged(old_server, tmp_path, SCRIPT)
    read = {term: value for (term, aspect), value in known(tmp_path).items() if aspect is Aspect.REQUESTED}
    assert {term: read.get(term) for term in ASKED} == ASKED
    resolved = {term: value for (term, aspect), value in known(tmp_path).items() if aspect is Aspect.RESOLVED}
    assert resolved["precision.requested"] == "bf16"
    assert resolved["precision.outside"] == UNSTATED, "the arguments themselves write it into the environment"
    assert_all_quiet(findings)


def test_what_is_excepted_exists() -> None:
    assert EXCEPTED.keys() <= SCRIPTS.keys() | QUIET.keys()
