"""What another tool measured is taken over with what its file says, and with nothing that it does not say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from affidavit.record.measurement import AS_COMMITTED, NO_REPOSITORY
from affidavit.run.measure import imported
from affidavit.run.measure.error import MeasureError

BENCHMARK = {
    "machine_info": {"cpu": {"brand_raw": "A Processor", "count": 8}, "python_version": "3.12.1", "system": "Linux"},
    "commit_info": {"id": "ab" * 20, "dirty": False},
    "benchmarks": [
        {"name": "test_rebuild[big]", "fullname": "tests/t.py::test_rebuild[big]", "stats": {"data": [1, 2, 3, 4, 5]}},
        {"name": "test_pack", "fullname": "tests/t.py::test_pack", "stats": {"median": 2.5, "iqr": 0.1, "rounds": 9}},
    ],
    "datetime": "2026-11-30T10:00:00.5",
    "version": "5.1.0",
}  # fmt: skip
HYPERFINE = {"results": [{"command": "encode --password hunter2", "times": [1.0, 2.0], "exit_codes": [0, 0]}]}


def test_what_pytest_benchmark_measured_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(BENCHMARK))
    first, second = imported.from_benchmark(
        tmp_path / "b.json", imported.About(prefix="cache", code={"a.py": "sha256:0"})
    )
    assert (first.name, first.value, first.n, first.spread_is) == ("cache-rebuild-big", 3, 5, "iqr")
    assert (second.name, second.value, second.n, second.spread) == ("cache-pack", 2.5, 9, 0.1)
    assert (first.commit, first.tree) == ("ab" * 20, AS_COMMITTED) and first.code == {"a.py": "sha256:0"}
    assert first.device == {"processor": "A Processor", "cores": "8", "system": "Linux"}
    assert first.date.isoformat() == "2026-11-30T10:00:00.500000+00:00" and "tests/t.py::test_rebuild" in first.note


def test_two_tests_of_one_name_are_two_numbers(tmp_path: Path) -> None:
    stats = {"median": 2.5, "iqr": 0.0, "rounds": 1}
    tests = [{"name": "test_sort", "fullname": f"{folder}/t.py::test_sort", "stats": stats} for folder in "ab"]
    told = {"benchmarks": tests, "datetime": "2026-11-30", "commit_info": {"id": "unversioned", "dirty": False}}
    (tmp_path / "b.json").write_text(json.dumps(told))
    found = imported.from_benchmark(tmp_path / "b.json", imported.About(code={}))
    assert [one.name for one in found] == ["a-t-py-test-sort", "b-t-py-test-sort"]
    assert {(one.n, one.spread, one.spread_is) for one in found} == {(1, None, "")}, "one value has no spread"
    assert {(one.commit, one.tree) for one in found} == {("", NO_REPOSITORY)}, "no commit holds what no commit is of"
    told = {"results": [{"command": "sleep 0.1", "times": [1]}, {"command": "sleep 0-1", "times": [2]}]}
    (tmp_path / "h.json").write_text(json.dumps(told))
    (tmp_path / "link.json").symlink_to("h.json")
    with pytest.raises(MeasureError, match="2 that would be called 'sleep-0-1'"):
        imported.from_hyperfine(tmp_path / "link.json", imported.About(code={}))


def test_a_long_name_is_cut_with_what_stands_in_front_of_it(tmp_path: Path) -> None:
    (tmp_path / "h.json").write_text(json.dumps({"results": [{"command": "x" * 99, "times": [1]}]}))
    (one,) = imported.from_hyperfine(tmp_path / "h.json", imported.About(prefix="a" * 50, code={}))
    assert one.name == f"{'a' * 50}-{'x' * 49}"


def test_what_hyperfine_measured_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "h.json").write_text(json.dumps(HYPERFINE))
    (one,) = imported.from_hyperfine(tmp_path / "h.json", imported.About(code={}))
    assert (one.value, one.n, one.spread_is, one.device, one.commit) == (1.5, 2, "sd", {}, "")
    assert one.command == ("encode", "--password", "[redacted]") and "hunter2" not in one.name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 60_000,
        '{"benchmarks": [{}], "results": [{}]}',
        '{"benchmarks": [{"name": "a", "stats": {"data": [NaN]}}], "datetime": "2026-11-30", "results": [{}]}',
        '{"benchmarks": [{"name": "a", "stats": {"median": true}}], "results": [{"times": [1], "exit_codes": [1]}]}',
        '{"benchmarks": [{"name": "a", "stats": {"median": 1}}], "datetime": "soon", "results": 7}',
        '{"benchmarks": [{"name": "a", "stats": {"data": [1, null]}}], "datetime": "2026-11-30", '
        '"results": [{"times": [1, "2"]}]}',
    ],
)
def test_a_file_that_holds_no_measurement_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    for reader in (imported.from_benchmark, imported.from_hyperfine):
        with pytest.raises(MeasureError, match="Not affected"):
            reader(tmp_path / "x.json", imported.About(code={}))
