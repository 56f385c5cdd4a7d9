"""A number in prose is bound to its measurement: ``[92 s](benchmarks/results/x.json "key")`` is what the file says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
TABLE = re.compile(r"^\|.*$", re.M)
CLAIM = re.compile(r"\[([\d.,]+) (s|ms|µs|MB)\]\(\S*?(benchmarks/results/\w+\.json) \"(\w+)\"\)")
QUANTITY = re.compile(r"\b\d[\d.,]*\s?(?:s|ms|µs|MB|GB|MiB|seconds?|minutes?|hours?)\b(?!-)")
SCALE = {"seconds": {"s": 1, "ms": 1e3, "µs": 1e6}, "bytes": {"MB": 1e-6}}


def _problems(text: str, root: Path) -> list[str]:
    """Return each quantity of a page that is bound to no file, or says something else than its file."""
    prose = TABLE.sub("", COMMENT.sub("", FENCE.sub("", text)))
    found = [
        f"{number} {unit} where {path} says {measured:.4g} {unit} ({key})"
        for number, unit, path, key in CLAIM.findall(prose)
        if not _agrees(number, measured := _measured(root / path, key, unit))
    ]
    unbound = [match.group() for match in QUANTITY.finditer(CLAIM.sub("", prose))]
    return found + [f"{quantity} is bound to no measurement" for quantity in unbound]


def _measured(path: Path, key: str, unit: str) -> float:
    value = json.loads(path.read_text())["found"][key]
    assert isinstance(value, int | float), f"{path.name}: {key} is no number"
    return value * SCALE[key.rpartition("_")[2]][unit]


def _agrees(number: str, measured: float) -> bool:
    """Say whether a number is the measured one, rounded to the digits that it shows."""
    places = len(number.partition(".")[2])
    return round(measured, places) == float(number.replace(",", ""))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_quantity_is_what_its_measurement_says(page: Path) -> None:
    assert _problems(page.read_text(), ROOT) == []


def test_a_stale_number_a_loose_one_and_a_true_one_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "benchmarks/results").mkdir(parents=True)
    (tmp_path / "benchmarks/results/x.json").write_text('{"found": {"all_seconds": 91.51, "peak_bytes": 35500000}}')
    link = '(benchmarks/results/x.json "all_seconds")'
    assert _problems(f'[92 s]{link}, [91.5 s]{link}, [36 MB](benchmarks/results/x.json "peak_bytes")', tmp_path) == []
    assert "where" in _problems(f"[90 s]{link}", tmp_path)[0]
    assert _problems("it takes 90 s, or 2 minutes", tmp_path) == [
        "90 s is bound to no measurement",
        "2 minutes is bound to no measurement",
    ]
