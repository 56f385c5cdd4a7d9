"""Our own numbers are under our own gate: every quantity of our pages is a claim, and says what was measured.

Code that changed since is a number to measure again and breaks no test; ``make claims`` refuses it before a release.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from affidavit.cli.main import command
from affidavit.record.covered import cover
from affidavit.record.measurement import FILE, Measurements, read

ROOT = Path(__file__).parents[2]
UNDER_CLAIMS = ("README.md", "docs", "examples", "benchmarks/README.md")
PAGES = sorted(
    path
    for name in UNDER_CLAIMS
    for path in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*.md"))
)
RESULTS = sorted((ROOT / "benchmarks/results").glob("*.json"))
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
TABLE = re.compile(r"^\|.*$", re.M)
CLAIM = re.compile(r"\[[^\]]+\]\(claim:[a-z0-9-]+\)")
QUANTITY = re.compile(r"\b\d[\d.,]*\s?(?:s|ms|µs|MB|GB|MiB|seconds?|minutes?|hours?)\b(?!-)")
COUNT = re.compile(r"\b\d[\d,]* of \d[\d,]*\b")


def _unbound(text: str) -> list[str]:
    """Return each quantity of a page's prose that is no claim, and each count that no block of the page prints.

    Tables hold limits; the blocks are run, and what they print is held elsewhere.
    """
    prose = CLAIM.sub("", TABLE.sub("", COMMENT.sub("", FENCE.sub("", text))))
    printed = "".join(FENCE.findall(text))
    return QUANTITY.findall(prose) + [one for one in COUNT.findall(prose) if one not in printed]


def _checked(root: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Return what ``affidavit claims check`` says of a project: its exit code, and the verdict of each check."""
    with contextlib.chdir(root):
        ended = CliRunner().invoke(command, ["claims", "check", *words, "--json"])
    said = json.loads(ended.stdout)
    return ended.exit_code, {one["check"]: one for one in said["findings"]}


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"benchmarks/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def kept() -> Measurements:
    return read(ROOT / FILE)


@pytest.fixture(scope="module")
def covers() -> ModuleType:
    """How a benchmark's numbers are called, and what they are of."""
    return _module("covers")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_quantity_is_a_claim(page: Path) -> None:
    assert _unbound(page.read_text()) == []


def test_every_claim_says_what_was_measured() -> None:
    code, said = _checked(ROOT, *UNDER_CLAIMS)
    assert code == 0, said
    assert said["claims-bound"]["verdict"] == "PASS", said["claims-bound"]
    assert said["claims-fresh"]["verdict"] in ("PASS", "REVIEW"), said["claims-fresh"]


def test_every_line_is_read(kept: Measurements) -> None:
    assert kept.problems == () and kept.measured


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_is_a_measurement_that_covers_what_it_measured(
    path: Path, kept: Measurements, covers: ModuleType
) -> None:
    result = json.loads(path.read_text())
    assert covers.covers(path.stem), f"benchmarks/covers.py does not say what {path.stem} measures"
    for target in covers.covers(path.stem):
        cover(target, ROOT)
    for key, value in result["found"].items():
        claim, unit = covers.claim_of(path.stem, key)
        last = kept.last(claim)
        assert last is not None, f"{claim} is in no line of {FILE}; run the benchmark"
        assert (last.value, last.unit) == (value, unit), f"{path.name} says {key} = {value}, {FILE} {last.value}"


def test_a_wrong_number_a_stale_one_and_a_loose_one_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "encode.py").write_text("def rebuild():\n    return 1\n")
    line = {"name": "rebuild", "value": 91.51, "unit": "s", "date": "2026-11-01T00:00:00Z", "device": {"cores": "2"}}
    digest = cover("encode.py:rebuild", tmp_path).digest
    (tmp_path / FILE).write_text(json.dumps({**line, "code": {"encode.py:rebuild": digest}}) + "\n")
    page = tmp_path / "README.md"
    page.write_text("It takes [92 s](claim:rebuild), or [1.5 min](claim:rebuild).\n")
    assert _checked(tmp_path)[0] == 0 and _unbound(page.read_text()) == []
    page.write_text("It takes [90 s](claim:rebuild), and 90 s again, or 2 minutes.\n")
    assert _checked(tmp_path)[0] == 1 and _unbound(page.read_text()) == ["90 s", "2 minutes"]
    assert _unbound("All 3 of 4 do, and 4 of 4 do.\n```\n4 of 4\n```\n") == ["3 of 4"]
    page.write_text("It takes [92 s](claim:rebuild).\n")
    (tmp_path / "encode.py").write_text("def rebuild():\n    return 2\n")
    code, said = _checked(tmp_path)
    assert (code, said["claims-fresh"]["verdict"]) == (0, "REVIEW")
    assert _checked(tmp_path, "--release")[0] == 1
