"""Source patchers find what they patch as it was, the patched run is the same, and where nobody calls us it is said."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from server import Server
from twice import SCRIPTS, Ran, Runner, script

from affidavit.attach.launch import Launch
from affidavit.fact import folder as names
from affidavit.fact.observation import Cause

HEARD = (
    "nothing",
    "loop from source",
    "class from source",
    "forward on class",
    "forward on instance",
    "resolution from source",
    "resolution wrapped",
    "train wrapped",
    "subclass",
    "copied",
)
UNHEARD = ("callbacks replaced", "callbacks removed")
"""Our callback is not in these Trainers: the optimizer shows their loop."""


@pytest.fixture(scope="module")
def bare(runner: Runner) -> dict[str, object]:
    return runner.bare(script("patched.py"), "each").said


@pytest.fixture(scope="module")
def observed(world_server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    return {case: _run(world_server, tmp_path_factory.mktemp("patched"), case) for case in (*HEARD, *UNHEARD)}


def _run(server: Server, home: Path, case: str) -> Ran:
    spool, out = home / "spool", home / "out"
    spool.mkdir()
    out.mkdir()
    launch = names.launch(spool, 0)
    launch.write_text(json.dumps(asdict(Launch(run="t", folder=str(home), spool=str(spool)))))
    environment = {"OMP_NUM_THREADS": "1"}
    ended = server.run(SCRIPTS / "patched.py", (case,), launch=launch, environment=environment, cwd=out)
    return Ran(returncode=ended.returncode, stdout=ended.stdout, stderr=ended.stderr, seconds=0, spool=spool, out=out)


@pytest.mark.parametrize("case", (*HEARD, *UNHEARD))
def test_the_patched_run_is_the_same(bare: dict[str, object], observed: dict[str, Ran], case: str) -> None:
    assert observed[case].said == bare[case]
    assert "affidavit" not in observed[case].stderr.lower()


@pytest.mark.parametrize("case", HEARD)
def test_it_is_heard_through_the_callback(observed: dict[str, Ran], case: str) -> None:
    ran = observed[case]
    (episode,) = ran.journal.episodes
    assert (episode.driver, episode.ended) == ("transformers.Trainer", "returned")
    assert ran.known("tokens.supervised_roles") == ("assistant",)
    assert ran.known("tokens.supervision_requested") == "assistant"
    assert str(ran.known("attention.executed")) == "4 flash"
    assert ran.journal.notes == []


@pytest.mark.parametrize("case", HEARD)
def test_a_request_that_was_not_heard_is_never_guessed(observed: dict[str, Ran], case: str) -> None:
    if case == "resolution from source":
        assert observed[case].unknown("attention.requested") is Cause.REPLACED
    else:
        assert observed[case].known("attention.requested") == "sdpa"


@pytest.mark.parametrize("case", UNHEARD)
def test_where_the_callback_is_gone_the_optimizer_shows_the_loop(observed: dict[str, Ran], case: str) -> None:
    ran = observed[case]
    (episode,) = ran.journal.episodes
    assert re.fullmatch(r".*\._inner_training_loop", episode.driver)
    assert any("never called us: it was replaced by other code" in note for note in ran.journal.notes)
    assert ran.known("tokens.supervised_roles") == ("assistant",)
    assert str(ran.known("attention.executed")) == "4 flash"
    assert str(ran.known("adapter.trained")) == "4 q_proj"


BEFORE = """
import importlib.util, sys

class Patcher:
    '''A finder of the user's own that changes a module as soon as it has run.'''

    def find_spec(self, name, path=None, target=None):
        if name not in ("transformers.trainer", "transformers.modeling_utils"):
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert({place}, self)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            if name == "transformers.trainer":
                loop = module.Trainer._inner_training_loop
                module.Trainer._inner_training_loop = lambda self, *args, **kwargs: loop(self, *args, **kwargs)
            else:
                module.PreTrainedModel.patched = True

        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert({place}, Patcher())
sys.argv = ["patched.py", "nothing"]
import runpy
runpy.run_path({script!r}, run_name="__main__")
"""


@pytest.mark.parametrize("place", [0, 1], ids=["in front of us", "behind us"])
def test_a_patcher_that_came_first(fresh_runner: Runner, place: int) -> None:
    code = BEFORE.format(place=place, script=script("patched.py"))
    bare, observed = fresh_runner.bare("-c", code), fresh_runner.observed("-c", code)
    assert observed.said == bare.said
    assert observed.journal.episodes[0].driver == "transformers.Trainer"
    assert observed.known("attention.requested") == "sdpa"
    assert str(observed.known("attention.executed")) == "4 flash"
