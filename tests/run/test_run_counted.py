"""The counter of a Trainer goes with what it counts: resumed whole or by half, put back with its weights or not."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from run_world import HERE
from server import Server

from affidavit import checks
from affidavit.attach.launch import Launch
from affidavit.case import SUBJECT, Case
from affidavit.check import Verdict
from affidavit.check.engine import run
from affidavit.check.load import load
from affidavit.fact import folder as names
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.run.draft import record_of
from affidavit.run.gathered import gather

WORDS = load_vocabulary()
CHECKS = {check.id: check for check in load(checks, WORDS)}
NEW_YEAR = datetime.date(2026, 1, 1)


@pytest.mark.parametrize(
    ("case", "expected", "words"),
    [
        ("whole", Verdict.PASS, ""),
        ("half", Verdict.FAIL, "optimizer and scheduler at step 3, where the loop goes on"),
        ("back", Verdict.PASS, ""),
        ("counter", Verdict.FAIL, "step 3, with an optimizer that has counted 5 steps"),
    ],
)
def test_a_counter_goes_with_what_it_counts(
    world_server: Server, tmp_path: Path, case: str, expected: Verdict, words: str
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    Launch(run="spool", folder=str(spool), spool=str(spool)).write(names.launch(spool, 0))
    ended = world_server.run(
        HERE / "counted.py", (str(tmp_path / "out"), case), launch=names.launch(spool, 0), cwd=tmp_path
    )
    assert ended.returncode == 0, ended.stderr
    record = record_of(gather(spool), WORDS)
    finding = run(
        CHECKS["steps-go-forward"], Case(records={SUBJECT: record}, as_of=NEW_YEAR, episode=record.episodes - 1)
    )
    assert finding.verdict is expected, finding.message
    assert words in finding.message
