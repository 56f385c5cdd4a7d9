"""The worlds: where their scripts lie, how one is run and judged, and what must have been said of it then."""

from __future__ import annotations

import datetime
from pathlib import Path

from server import Server

from affidavit import checks
from affidavit.attach.launch import Launch
from affidavit.case import Case
from affidavit.check import Check, Finding, Verdict, judge
from affidavit.check.load import load
from affidavit.fact import folder as names
from affidavit.fact.journal import read
from affidavit.fact.observation import Aspect, Known
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.record.merge import merge
from affidavit.record.record import Kind

HERE = Path(__file__).parent
WORDS = load_vocabulary()
CHECKS = {check.id: check for check in load(checks, WORDS)}
COLD = {"cache-entry-provenance", "ranks-agree"}
"""Worlds that start processes of their own."""
WORLDS = sorted(place.name.replace("_", "-") for place in HERE.iterdir() if (place / "fault.py").is_file())
OWN = {"plain-loop": "attention-as-requested"}
"""Worlds that are not named after their check."""
SCRIPTS = {
    f"{world}/{script.stem}": script
    for world in WORLDS
    if world not in COLD
    for script in sorted((HERE / world.replace("-", "_")).glob("*.py"))
}
"""By the names under which they are tested."""
QUIET = {script.stem: script for script in sorted((HERE / "quiet").glob("*.py"))}
OUTSIDE = {
    "alarms-can-say-dead",
    "attestations-in-force",
    "cache-entry-provenance",
    "claims-bound",
    "claims-fresh",
    "code-is-committed",
    "declared-caches-rebuilt",
    "fields-read",
    "gates-can-say-no",
    "gates-say-yes",
    "instruments-proved",
    "names-known",
    "one-writer",
    "packages-as-installed",
    "ranks-end-as-command",
    "record-untouched",
    "references-resolve",
    "steps-go-forward",
    "tree-is-committed",
}
"""Checks whose facts come from the launcher, which is not here."""


def check_of(world: str) -> Check:
    return CHECKS[OWN.get(world, world)]


def judged(
    server: Server, folder: Path, script: Path, environment: dict[str, str] | None = None
) -> tuple[Finding, ...]:
    """Return what every check says of a script that ran attached, and to its end, in a fork of the server.

    What it printed lies in ``printed.txt`` in its folder.
    """
    launch = names.launch(folder, 0)
    Launch(run="world", folder=str(folder), spool=str(folder)).write(launch)
    ended = server.run(script, (str(folder / "output"),), launch=launch, environment=environment)
    assert ended.returncode == 0, ended.stderr
    (folder / "printed.txt").write_text(ended.stdout)
    readings = [read(path) for path in names.journals(folder)]
    record = merge(readings, kind=Kind.RUN, subject=folder.name, vocabulary=WORDS)
    return judge(CHECKS.values(), Case(records={"run": record}, as_of=datetime.date(2026, 11, 30)))


def known(folder: Path) -> dict[tuple[str, Aspect], object]:
    """Return what was known in the end of a run that was judged: the value of each term, requested or resolved."""
    last = {(seen.term, seen.aspect): seen.state for path in names.journals(folder) for seen in read(path).observations}
    return {said: state.value for said, state in last.items() if isinstance(state, Known)}


def assert_own_check_spoke(script: str, findings: tuple[Finding, ...]) -> None:
    """A fault is caught by the check of its world; on its twin that check passes and no other accuses."""
    world, _, stem = script.partition("/")
    check = check_of(world)
    (own,) = [finding for finding in findings if finding.check == check.id]
    accused = {
        finding.check: finding.message for finding in findings if finding.verdict in (Verdict.FAIL, Verdict.REVIEW)
    }
    if stem.startswith("fault"):
        assert own.verdict in {sabotage.expect for sabotage in check.sabotages}, own.message
        assert own.check in accused
    else:
        assert own.verdict is Verdict.PASS, own.message
        assert accused == {}


def assert_all_quiet(findings: tuple[Finding, ...]) -> None:
    """No check says more than that it passed, or that it has nothing to say."""
    loud = [finding for finding in findings if finding.verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE)]
    assert {finding.check for finding in loud} == OUTSIDE, loud
