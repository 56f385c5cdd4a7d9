"""The demonstration as it ships: a real model on real text is quiet, its drill catches everything, the rest lie."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from server import SCRIPTS, Server
from worlds import judged

from affidavit.demo.ordinary import Left
from affidavit.demo.planted import FAULTS, Fault
from affidavit.demo.show import REPORTED, show

PASSES = {
    "adapter-as-configured",
    "adapter-targets-matched",
    "adapter-trained",
    "answers-not-cut-off",
    "attention-as-requested",
    "attention-consistent",
    "attention-kernel-fused",
    "batch-as-requested",
    "begin-not-doubled",
    "checkpointing-as-requested",
    "code-is-committed",
    "columns-reach-model",
    "compiled-as-requested",
    "determinism-as-requested",
    "every-answer-supervised",
    "every-row-teaches",
    "fields-read",
    "frozen-weights-rest",
    "loader-as-requested",
    "loop-as-planned",
    "names-consumed",
    "names-known",
    "one-writer",
    "optimizer-as-requested",
    "optimizer-owns-what-trains",
    "packages-as-installed",
    "precision-as-requested",
    "prompt-is-prefix",
    "ranks-end-as-command",
    "rows-survive-preparation",
    "rows-within-max-length",
    "saves-as-requested",
    "schedule-as-requested",
    "schedule-spans-run",
    "special-tokens-agree",
    "steps-go-forward",
    "supervised-as-requested",
    "trained-weights-move",
    "tree-is-committed",
    "turns-end-supervised",
    "warmup-ends-within-run",
    "weights-are-the-files",
    "weights-in-requested-type",
}
"""What the clean run must PASS; "not applicable" is free and proves nothing."""
NOT_APPLICABLE = {
    "alarms-can-say-dead": "alarms.examined",
    "attestations-in-force": "attestations.answers",
    "cache-canary": "cache.canary",
    "cache-entry-provenance": "cache.lineage",
    "cache-key-probed": "cache.probes",
    "claims-bound": "claims.examined",
    "claims-fresh": "claims.covered",
    "config-owner": "config.owners",
    "decay-spares-vectors": "optimizer.weight_decay",
    "declared-caches-rebuilt": "cache.declared",
    "frozen-norms-rest": "modes.layers",
    "gates-can-say-no": "gates.examined",
    "gates-say-yes": "gates.answers",
    "instruments-proved": "instruments.proofs",
    "master-weights-kept": "precision.gradients",
    "modes-hold-training": "modes.layers",
    "precision-said-in-script": "precision.outside",
    "ranks-agree": "run.ranks",
    "record-untouched": "record.built_on",
    "references-resolve": "references.examined",
    "states-reach-the-model": "weights.restored",
    "supervised-roles-reviewed": "tokens.supervision_requested",
}
"""What does not apply to it, and the fact that says so."""


@dataclass(frozen=True)
class Shown:
    place: Path
    said: str
    found_all: bool

    def affidavit(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "affidavit.cli", *words]
        return subprocess.run(command, cwd=self.place / "project", capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The demo with the real model and two of its faults; all of them are held to their checks one by one below."""
    place = tmp_path_factory.mktemp("demo")
    said: list[str] = []
    some = tuple(fault for fault in FAULTS if fault.name == REPORTED or fault.edit is not None)
    found_all = show(place, quick=False, say=lambda lines: said.extend(line.text for line in lines), faults=some)
    return Shown(place, "\n".join(said), found_all)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.edit is None], ids=lambda fault: fault.name)
def test_a_planted_fault_is_found_and_an_ordinary_record_looks_fine(
    world_server: Server, tmp_path: Path, fault: Fault
) -> None:
    script = SCRIPTS / fault.script
    (own,) = [
        finding
        for finding in judged(world_server, tmp_path, script, dict(fault.environment))
        if finding.check == fault.check
    ]
    assert own.verdict is fault.says, own.message
    left = Left(
        project=SCRIPTS,
        script=script,
        trained=tmp_path / "output" / "trained",
        printed=tmp_path / "printed.txt",
    )
    *named, loss = fault.files(left)
    assert named and not [said for said in named if ": no " in said]
    went = re.search(r"loss ([\d.]+) (?:->|→) ([\d.]+)", loss)
    assert went is not None and float(went[1]) > float(went[2])


def test_the_demo_finds_what_it_plants_and_names_what_is_there(shown: Shown) -> None:
    assert shown.found_all, shown.said
    assert "2 of 2 planted faults found" in shown.said
    for named in ("clean.html", f"{REPORTED}.html"):
        assert f"  {shown.place / named}" in shown.said and (shown.place / named).is_file()
    assert f"  cd {shown.place / 'project'}" in shown.said


def test_the_clean_run_passes_what_it_must_and_says_little(shown: Shown) -> None:
    ended = shown.affidavit("show", "last", "--json")
    findings = {found["check"]: found for found in json.loads(ended.stdout)["findings"]}
    assert {name for name, found in findings.items() if found["verdict"] == "PASS"} == PASSES
    rest = {name: found for name, found in findings.items() if found["verdict"] != "PASS"}
    assert set(rest) == set(NOT_APPLICABLE)
    for name, term in NOT_APPLICABLE.items():
        assert rest[name]["verdict"] == "NOT_APPLICABLE" and term in rest[name]["message"]
    lines = shown.affidavit("show", "last").stdout.splitlines()
    assert len(lines) <= 17, lines


def test_every_sabotage_of_the_clean_run_is_caught(shown: Shown) -> None:
    ended = shown.affidavit("drill", "last", "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    drilled = json.loads(ended.stdout)
    proofs = [(check["check"], proof) for check in drilled["drills"] for proof in check["proofs"]]
    assert len(proofs) > 150 and all(proof["got"] == proof["expect"] for _, proof in proofs)
    assert {check for check, proof in proofs if "(on this run)" in proof["sabotage"]} == PASSES
