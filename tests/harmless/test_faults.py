"""An instrument that raises, hangs or cannot write costs the run nothing but an Unknown with its cause."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from server import Server
from twice import SCRIPTS, Ran, Runner, plugin, script

from affidavit.attach.instrument import Instrument
from affidavit.attach.launch import Launch
from affidavit.boot import load_instruments
from affidavit.fact import folder as names
from affidavit.fact.observation import Cause, Known, Unknown

INSTRUMENTS = load_instruments()[1]
TERMS = {term: instrument for instrument in INSTRUMENTS for term in instrument.emits}
FAULTS = ("raise", "memory", "no space", "recursion", "stop iteration")
HANGS = ("asleep", "busy")


@pytest.fixture(scope="module")
def bare(runner: Runner) -> dict[str, object]:
    """What the script says where nobody watches; with the frameworks, which a forked case has as well."""
    return runner.bare(
        "-c", f"import transformers, peft, runpy; runpy.run_path({script('small.py')!r}, run_name='__main__')"
    ).said


def _run(server: Server, folder: Path, *arguments: str, sabotage: str = "") -> Ran:
    spool, out = folder / "spool", folder / "out"
    spool.mkdir()
    out.mkdir()
    plugins = (plugin(folder, (Path(__file__).parent / "saboteur.py").read_text()),) if sabotage else ()
    launch = names.launch(spool, 0)
    launch.write_text(json.dumps(asdict(Launch(run="t", folder=str(folder), spool=str(spool), plugins=plugins))))
    ended = server.run(
        SCRIPTS / "small.py",
        arguments,
        launch=launch,
        environment={"SABOTAGE": sabotage, "PYTHONPATH": str(SCRIPTS)},
        cwd=out,
    )
    return Ran(returncode=ended.returncode, stdout=ended.stdout, stderr=ended.stderr, seconds=0, spool=spool, out=out)


def _unharmed(ran: Ran, bare: dict[str, object], seconds: float = 5.0) -> None:
    said, expected = ran.said, dict(bare)
    took, usual = said.pop("told"), expected.pop("told")
    assert said == expected
    assert said["hooks"] == 0
    assert ran.stderr == ""
    assert took["all"] < usual["all"] + seconds  # type: ignore[index]


def test_without_a_fault_everything_is_known(world_server: Server, tmp_path: Path, bare: dict[str, object]) -> None:
    """Else the tests below would see Unknowns that nobody caused."""
    ran = _run(world_server, tmp_path)
    _unharmed(ran, bare)
    for term in TERMS:
        if term not in ("attention.requested", "attention.configured"):  # the model is no transformer
            ran.known(term)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_instrument_may_raise(world_server: Server, tmp_path: Path, bare: dict[str, object], fault: str) -> None:
    ran = _run(world_server, tmp_path, sabotage=f"{fault}|every|")
    _unharmed(ran, bare)
    for term, instrument in TERMS.items():
        if not instrument.name.startswith("attention c"):  # nobody asked for attention here, so nothing was called
            assert ran.unknown(term) is Cause.INSTRUMENT_FAILED, term


@pytest.mark.parametrize("instrument", [instrument.name for instrument in INSTRUMENTS])
def test_one_that_raises_takes_none_with_it(
    world_server: Server, tmp_path: Path, bare: dict[str, object], instrument: str
) -> None:
    ran = _run(world_server, tmp_path, sabotage=f"raise|{instrument}|")
    _unharmed(ran, bare)
    for term, owner in TERMS.items():
        states = ran.states(term)
        assert states
        if owner.name != instrument and not owner.name.startswith("attention c"):
            assert isinstance(states[-1], Known), term


@pytest.mark.parametrize("hang", HANGS)
def test_every_instrument_may_hang(world_server: Server, tmp_path: Path, bare: dict[str, object], hang: str) -> None:
    ran = _run(world_server, tmp_path, sabotage=f"{hang}|every|0.2")
    _unharmed(ran, bare)
    for term, instrument in TERMS.items():
        if not instrument.name.startswith("attention c"):
            assert ran.unknown(term) is Cause.TIME_LIMIT, term


def test_a_hang_is_over_before_anybody_waits_five_seconds(
    world_server: Server, tmp_path: Path, bare: dict[str, object]
) -> None:
    """With the budget that it really has."""
    slowest = max(INSTRUMENTS, key=lambda instrument: instrument.budget_seconds)
    assert slowest.budget_seconds < 5
    ran = _run(world_server, tmp_path, sabotage=f"asleep|{slowest.name}|")
    _unharmed(ran, bare)
    assert ran.unknown(slowest.emits[0]) is Cause.TIME_LIMIT


@pytest.mark.parametrize("fault", ["raise", "asleep"])
def test_letting_go_may_fail(world_server: Server, tmp_path: Path, bare: dict[str, object], fault: str) -> None:
    ran = _run(world_server, tmp_path, sabotage=f"{fault}|release|0.2")
    _unharmed(ran, bare, seconds=5 + 0.2 * len(INSTRUMENTS))  # all are asked to let go, whoever is slow
    assert any("did not let go" in note for note in ran.journal.notes)


def test_nothing_can_be_said(world_server: Server, tmp_path: Path, bare: dict[str, object]) -> None:
    ran = _run(world_server, tmp_path, sabotage="emit|every|")
    _unharmed(ran, bare)
    assert ran.unknown("attention.executed") is Cause.INSTRUMENT_FAILED


def test_an_alarm_of_the_runs_own_rings(world_server: Server, tmp_path: Path) -> None:
    ran = _run(world_server, tmp_path, "alarm")
    assert ran.said["left"] == [True, True, True]
    assert ran.said["alarm"] == ["<function ring.<locals>.<lambda>", [0.0, 0.0]]
    assert ran.journal.opened["limited"] is False
    ran.known("tokens.rows_examined")


@pytest.mark.parametrize("model", ["talkative", "odd", "ragged labels"])
def test_models_that_are_unlike_any_other(
    world_server: Server, tmp_path: Path, bare: dict[str, object], model: str
) -> None:
    ran = _run(world_server, tmp_path, model)
    _unharmed(ran, bare)
    assert isinstance(ran.states("code.listing")[-1], Known)
    for term in TERMS:
        assert all(isinstance(state, (Known, Unknown)) for state in ran.states(term)) and ran.states(term)
    if model == "talkative":
        assert ran.unknown("adapter.matched") is Cause.INSTRUMENT_FAILED


def test_every_instrument_is_under_test() -> None:
    assert len(TERMS) == sum(len(instrument.emits) for instrument in INSTRUMENTS)
    assert all(issubclass(instrument, Instrument) for instrument in INSTRUMENTS)
