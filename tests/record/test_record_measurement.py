"""A measurement keeps what it was true of; an old one stays, and a broken line is told and harms no other."""

from __future__ import annotations

import datetime
import resource
from pathlib import Path

import pytest

from affidavit.record import measurement
from affidavit.record.measurement import Measurement, MeasurementError, Measurements, Supersession


def at(day: int, hour: int = 0) -> datetime.datetime:
    return datetime.datetime(2026, 11, day, hour, tzinfo=datetime.UTC)


def measured(name: str, value: float, day: int, **more: object) -> Measurement:
    return Measurement(name=name, value=value, unit="s", date=at(day), **more)  # type: ignore[arg-type]


def superseded(*claims: str, day: int, by: str = "") -> Supersession:
    return Supersession(claims=claims, why="profiled another seat", date=at(day), by=by)


def test_what_was_measured_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "measurements.jsonl"
    whole = measured(
        "encode-cache-rebuild",
        145.5,
        2,
        spread=0.5,
        spread_is="iqr",
        n=3,
        command=("python", "encode.py"),
        commit="0" * 40,
        tree=measurement.AS_COMMITTED,
        device={"processor": "a", "cores": "2"},
        packages={"torch": "2.13.0"},
        code={"encode.py:build": "sha256:" + "0" * 64},
        run="run-1",
        seat="one node",
        note="cold",
    )
    taken = superseded("kernel-table", "mfu", day=3, by="encode-cache-rebuild")
    measurement.append(path, [measured("encode-cache-rebuild", 15480, 1), whole])
    measurement.append(path, [taken])
    held = measurement.read(path)
    assert held == Measurements(measured=(measured("encode-cache-rebuild", 15480, 1), whole), supersessions=(taken,))
    assert held.last("encode-cache-rebuild") == whole and held.last("never") is None
    assert held.former == (measured("encode-cache-rebuild", 15480, 1),)
    assert held.near("encode-cache-rebuilt") == "encode-cache-rebuild" and held.near("zzz") == ""


def test_the_newest_counts_in_whatever_order_lines_stand() -> None:
    held = Measurements(measured=(measured("a", 9, 9), measured("a", 2, 2), measured("b", 1, 1)))
    assert held.last("a") == measured("a", 9, 9) and held.names == ("a", "b")
    assert [one.value for one in held.history("a")] == [2, 9]


def test_a_claim_that_was_taken_back_stands_again_once_it_is_measured_again() -> None:
    old, taken, new = measured("a", 1, 1), superseded("a", "b", day=2), measured("a", 2, 3)
    before = Measurements(measured=(old,), supersessions=(taken,))
    assert before.superseded("a") == taken and before.former == (old,)
    assert before.superseded("b") == taken, "nobody need have measured what is taken back"
    after = Measurements(measured=(old, new), supersessions=(taken,))
    assert after.superseded("a") is None and after.superseded("b") == taken and after.former == (old,)


def test_no_file_is_an_empty_one(tmp_path: Path) -> None:
    assert measurement.read(tmp_path / "none") == Measurements()


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b'{"name":"a"}',
        b"\xff",
        b"[" * 50_000,
        b'{"claims":"a"}',
        b'{"date":"2026-11-01T00:00:00Z","name":"a","unit":"s","value":1,"what":1}',
        b'{"date":"2026-11-01T00:00:00","name":"a","unit":"s","value":1}',
        b'{"date":"2026-11-01T00:00:00Z","name":"A b","unit":"s","value":1}',
        b'{"date":"2026-11-01T00:00:00Z","name":"a","unit":"s","value":NaN}',
    ],
)
def test_a_line_broken_by_hand_is_told_and_the_others_stand(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "measurements.jsonl"
    measurement.append(path, [measured("a", 1, 1)])
    with path.open("ab") as file:
        file.write(line + b"\n")
    measurement.append(path, [measured("a", 2, 2)])
    held = measurement.read(path)
    assert held.measured == (measured("a", 1, 1), measured("a", 2, 2)) and not held.supersessions
    (problem,) = held.problems
    assert problem.startswith("measurements.jsonl:2: ") and "\n" not in problem


def test_a_torn_last_line_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "measurements.jsonl"
    path.write_bytes(b'{"name":"a","da')
    measurement.append(path, [measured("a", 1, 1)])
    held = measurement.read(path)
    assert held.measured == (measured("a", 1, 1),) and len(held.problems) == 1


@pytest.mark.parametrize("before", [b"", b'{"name":"a","da'], ids=["whole", "torn"])
def test_half_a_line_on_a_full_disk_is_none_and_is_said(tmp_path: Path, before: bytes) -> None:
    path = tmp_path / "measurements.jsonl"
    measurement.append(path, [measured("a", 1, 1)])
    with path.open("ab") as file:
        file.write(before)
    held, (soft, hard) = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(held) + 40, hard))
    try:
        with pytest.raises(MeasurementError, match=r"saw No space left .*\nKept nowhere but here: a 2 s\."):
            measurement.append(path, [measured("a", 2, 2)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == held


@pytest.mark.parametrize(
    "wrong",
    [
        measured("Not Kebab", 1, 1),
        measured("", 1, 1),
        measured("a" * 101, 1, 1),
        measured("a", float("nan"), 1),
        measured("a", 1, 1, n=0),
        measured("a", 1, 1, spread_is="about"),
        measured("a", 1, 1, code={"naïve.py": "sha256:0"}),
    ],
)
def test_what_no_claim_could_carry_is_not_written(tmp_path: Path, wrong: Measurement) -> None:
    path = tmp_path / "measurements.jsonl"
    with pytest.raises(MeasurementError, match="Not affected"):
        measurement.append(path, [measured("a", 1, 1), wrong])
    assert not path.exists()


def test_a_folder_in_its_place_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    assert measurement.read(tmp_path).problems == (f"{tmp_path.name}: Is a directory",)
    with pytest.raises(MeasurementError, match="Is a directory"):
        measurement.append(tmp_path, [measured("a", 1, 1)])
