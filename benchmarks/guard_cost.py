"""What a guard costs: milliseconds for each disarm, beside two mutation testers on the same module and tests.

python benchmarks/guard_cost.py [--others PYTHON] [--rounds N]

Two functions, four tests, one of them inert. The other tools are asked as their manuals say, in copies of the project;
cosmic-ray starts a process for each mutant and is stopped after a minute. What differs is what is asked: they judge a
module by all of its tests, a guard is one function and one test. What a suite without any marker pays is measured too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import ROOT, median, spend, write

COSMIC_SECONDS = 60
MODULE = '''
"""Whose words are learnt, and how many of them are left."""

BANNED = frozenset({"user", "system"})


def masked(labels, roles, limit=8):
    if len(labels) != len(roles):
        raise ValueError("ragged")
    out = []
    for label, role in zip(labels, roles):
        if role in BANNED or label < 0:
            out.append(-100)
        else:
            out.append(label)
    if len(out) > limit:
        raise ValueError("too long")
    return out


def coverage(labels):
    if not labels:
        return 0.0
    return sum(label != -100 for label in labels) / len(labels)
'''
TESTS = """
import pytest

from gate.mask import coverage, masked

ROLES = ["user", "assistant", "system", "assistant"]


@pytest.mark.guards("gate.mask:masked", property="only the assistant's words are learnt")
def test_masked():
    assert masked([1, 2, 3, -1], ROLES) == [-100, 2, -100, -100]
    assert masked([0], ["assistant"]) == [0]


@pytest.mark.guards("gate.mask:masked", property="what does not fit is refused")
def test_refused():
    with pytest.raises(ValueError, match="ragged"):
        masked([1], [])
    with pytest.raises(ValueError, match="too long"):
        masked([1] * 9, ["assistant"] * 9)
    assert masked([1] * 8, ["assistant"] * 8) == [1] * 8


@pytest.mark.guards("gate.mask:coverage", property="the share of what is left")
def test_coverage():
    assert coverage([1, -100, 2, 3]) == 0.75
    assert coverage([]) == 0.0


@pytest.mark.guards("gate.mask:masked", property="it looks like a guard")
def test_inert():
    labels = masked([1, 2, 3, 4], ROLES)
    assert len(list(labels or ())) >= 0
"""
CONFTEST = """
import json, os
import pytest


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    guards = session.config.pluginmanager.get_plugin("affidavit-guards")
    if guards is not None and "FOUND" in os.environ:
        found = [
            {"test": one.test, "word": one.word.value, "disarms": len(one.disarms), "seconds": one.seconds}
            for one in guards.evidence.values()
        ]
        with open(os.environ["FOUND"], "w") as file:
            json.dump(found, file)
"""
PYPROJECT = """
[tool.pytest.ini_options]
pythonpath = ["src"]
testpaths = ["tests"]
markers = ["guards: read by a plugin that is not here"]

[tool.mutmut]
source_paths = ["src"]
paths_to_mutate = ["src"]
pytest_add_cli_args_test_selection = ["tests"]
"""
COSMIC = """
[cosmic-ray]
module-path = "src/gate/mask.py"
timeout = 20.0
excluded-modules = []
test-command = "{python} -m pytest -x -q -p no:cacheprovider tests"

[cosmic-ray.distributor]
name = "local"
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--others", default="", metavar="PYTHON", help="an interpreter with mutmut and cosmic-ray")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    rounds: list[list[dict[str, float]]] = []
    suites: dict[str, list[dict[str, float]]] = {"without": [], "unmarked": []}
    raw: dict[str, object] = {"rounds": rounds, "suites": suites}
    with tempfile.TemporaryDirectory() as scratch:
        folder = lay_out(Path(scratch) / "ours")
        unmarked = lay_out(Path(scratch) / "unmarked", TESTS.replace("@pytest.mark.guards", "# "))
        for _ in range(asked.rounds):
            rounds.append(guards(folder))
            for _ in range(3):
                suites["without"].append(suite(unmarked))
                suites["unmarked"].append(suite(unmarked, "-p", "affidavit.pytest_plugin"))
        others = {} if not asked.others else {"mutmut": mutmut, "cosmic_ray": cosmic_ray}
        beside = {name: ask(asked.others, lay_out(Path(scratch) / name)) for name, ask in others.items()}
    raw["others"] = beside
    words = {one["test"].rpartition("::")[2]: one["word"] for one in rounds[0]}
    each = [1e3 * sum(one["seconds"] for one in found) / sum(one["disarms"] for one in found) for found in rounds]
    # The least of each: a few milliseconds of start-up drown in what else a machine does, which only ever adds.
    cpu = {name: min(one["cpu_seconds"] for one in spent) for name, spent in suites.items()}
    found = {
        "milliseconds_per_disarm": median(each),
        "disarms": float(sum(one["disarms"] for one in rounds[0])),
        "guards_not_called_by_their_name": float(words != EXPECTED),
        "unmarked_suite_cpu_milliseconds": 1e3 * (cpu["unmarked"] - cpu["without"]),
        **{f"{name}_{key}": value for name, told in beside.items() for key, value in told.items()},
    }
    promised = {
        "milliseconds_per_disarm": 5.0,
        "guards_not_called_by_their_name": 0.0,
        "unmarked_suite_cpu_milliseconds": 20.0,
    }
    return write("guard_cost", promised=promised, found=found, raw={**raw, "words": words})


EXPECTED = {"test_masked": "WEAK", "test_refused": "WEAK", "test_coverage": "PROVED", "test_inert": "INERT"}


def lay_out(folder: Path, tests: str = TESTS) -> Path:
    for name, text in {
        "src/gate/__init__.py": "",
        "src/gate/mask.py": MODULE,
        "tests/test_mask.py": tests,
        "tests/conftest.py": CONFTEST,
        "pyproject.toml": PYPROJECT,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def environment(**more: str) -> dict[str, str]:
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": ""}
    return {**os.environ, **alone, **more}


def guards(folder: Path) -> list[dict[str, float]]:
    """Return what one session said of each guard."""
    found = folder / "found.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "affidavit.pytest_plugin", "--affidavit-guards=tell"]
    spend(command, environment(FOUND=str(found)), cwd=folder)
    return json.loads(found.read_text())


def suite(folder: Path, *given: str) -> dict[str, float]:
    return vars(spend([sys.executable, "-m", "pytest", "-q", *given], environment(), cwd=folder))


def mutmut(python: str, folder: Path) -> dict[str, float]:
    began = time.monotonic()
    program = str(Path(python).parent / "mutmut")
    ended = subprocess.run([program, "run"], cwd=folder, env=bare(python), capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    counts = re.findall(r"(\d+)/(\d+)", ended.stdout)
    if not counts:
        raise RuntimeError(f"mutmut: {ended.stdout[-1000:]}{ended.stderr[-1000:]}")
    mutants = int(counts[-1][1])
    return {"mutants": float(mutants), "milliseconds_per_mutant": 1e3 * seconds / mutants}


def cosmic_ray(python: str, folder: Path) -> dict[str, float]:
    (folder / "cosmic.toml").write_text(COSMIC.format(python=python))
    program = str(Path(python).parent / "cosmic-ray")
    given = {"cwd": folder, "env": bare(python), "capture_output": True, "text": True}
    subprocess.run([program, "init", "cosmic.toml", "s.sqlite"], check=True, **given)
    began = time.monotonic()
    with contextlib.suppress(subprocess.TimeoutExpired):  # what was done until then is counted
        subprocess.run([program, "exec", "cosmic.toml", "s.sqlite"], timeout=COSMIC_SECONDS, check=True, **given)
    seconds = time.monotonic() - began
    dumped = subprocess.run([program, "dump", "s.sqlite"], check=True, **given).stdout.splitlines()
    done = [one for one in map(json.loads, dumped) if one[1] is not None]
    left = (folder / "src/gate/mask.py").read_text() != MODULE
    return {
        "mutants": float(len(dumped)),
        "mutants_done": float(len(done)),
        "milliseconds_per_mutant": 1e3 * seconds / len(done),
        "left_in_the_source": float(left),
    }


def bare(python: str) -> dict[str, str]:
    search = os.pathsep.join((str(Path(python).parent), os.environ.get("PATH", "")))
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": search}


if __name__ == "__main__":
    sys.exit(main())
