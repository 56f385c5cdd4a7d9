"""The demonstration as it ships: a real model on real text is quiet, its drill catches everything, four runs lie."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from affidavit.demo.show import FAULTS

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
    "frozen-weights-rest",
    "loader-as-requested",
    "loop-as-planned",
    "optimizer-as-requested",
    "optimizer-owns-what-trains",
    "packages-as-installed",
    "precision-as-requested",
    "prompt-is-prefix",
    "rows-survive-preparation",
    "rows-within-max-length",
    "saves-as-requested",
    "schedule-as-requested",
    "schedule-spans-run",
    "special-tokens-agree",
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
    "decay-spares-vectors": "optimizer.weight_decay",
    "frozen-norms-rest": "modes.layers",
    "master-weights-kept": "precision.gradients",
    "modes-hold-training": "modes.layers",
    "precision-said-in-script": "precision.outside",
    "ranks-agree": "run.ranks",
    "states-reach-the-model": "weights.restored",
    "supervised-roles-reviewed": "tokens.supervision_requested",
}
"""What does not apply to it, and the fact that says so."""


@dataclass(frozen=True)
class Shown:
    project: Path
    said: str
    code: int

    def affidavit(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "affidavit.cli", *words]
        return subprocess.run(command, cwd=self.project, capture_output=True, text=True, check=False)

    def clean(self) -> str:
        """Return the id of the clean run, the first of them."""
        return json.loads(self.affidavit("ls", "--json").stdout)["runs"][-1]["run"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    place = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "affidavit.cli", "demo", "--keep", str(place)]
    ended = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    return Shown(place / "project", ended.stdout + ended.stderr, ended.returncode)


def test_every_planted_fault_is_found_and_an_ordinary_record_looks_fine(shown: Shown) -> None:
    assert shown.code == 0, shown.said
    assert f"{len(FAULTS)} of {len(FAULTS)} planted faults found" in shown.said
    for fault in FAULTS:
        assert fault.check in shown.said


def test_the_clean_run_passes_what_it_must_and_says_little(shown: Shown) -> None:
    ended = shown.affidavit("show", shown.clean(), "--json")
    findings = {found["check"]: found for found in json.loads(ended.stdout)["findings"]}
    assert {name for name, found in findings.items() if found["verdict"] == "PASS"} == PASSES
    rest = {name: found for name, found in findings.items() if found["verdict"] != "PASS"}
    assert set(rest) == set(NOT_APPLICABLE)
    for name, term in NOT_APPLICABLE.items():
        assert rest[name]["verdict"] == "NOT_APPLICABLE" and term in rest[name]["message"]
    lines = shown.affidavit("show", shown.clean()).stdout.splitlines()
    assert len(lines) <= 16, lines


def test_every_sabotage_of_the_clean_run_is_caught(shown: Shown) -> None:
    ended = shown.affidavit("drill", shown.clean(), "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    drilled = json.loads(ended.stdout)
    proofs = [(check["check"], proof) for check in drilled["drills"] for proof in check["proofs"]]
    assert len(proofs) > 150 and all(proof["got"] == proof["expect"] for _, proof in proofs)
    assert {check for check, proof in proofs if "(on this run)" in proof["sabotage"]} == PASSES
