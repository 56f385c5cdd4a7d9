"""The ledger says when a check was last proved; a broken line is told, and proves nothing and harms nothing."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from affidavit.record import ledger
from affidavit.record.ledger import Drilled, Instrument, Ledger


def drilled(check: str, day: int, caught: int = 5, total: int = 5) -> Drilled:
    return Drilled(
        check=check, date=datetime.date(2026, 11, day), caught=caught, total=total, affidavit="0.1.0", run="run-1"
    )


def test_a_drill_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "instruments.jsonl"
    ledger.append(path, [drilled("a", 1), drilled("b", 2)])
    ledger.append(path, [drilled("a", 3)])
    assert ledger.read(path) == Ledger(drills=(drilled("a", 1), drilled("b", 2), drilled("a", 3)))


@pytest.mark.guards("affidavit.record.ledger:Drilled.is_proof", property="catching none of none proves nothing")
def test_only_a_drill_that_caught_everything_is_a_proof() -> None:
    assert drilled("a", 1).is_proof and not drilled("a", 9, caught=4).is_proof
    assert not drilled("b", 2, caught=0, total=0).is_proof, "catching none of none proves nothing"


def test_the_newest_drill_counts_in_whatever_order_lines_stand() -> None:
    held = Ledger(drills=(drilled("a", 9, caught=4), drilled("a", 2)))
    assert held.last("a") == drilled("a", 9, caught=4) and held.last("never") is None


def test_no_ledger_is_an_empty_one(tmp_path: Path) -> None:
    assert ledger.read(tmp_path / "none") == Ledger()


@pytest.mark.parametrize(
    "line",
    [b"not json", b'{"check":"a"}', b'{"check":"a","check":"b"}', b"\xff", b'{"date":"soon"}', b"[" * 50_000],
)
def test_a_line_broken_by_hand_is_told_and_the_others_stand(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "instruments.jsonl"
    ledger.append(path, [drilled("a", 1)])
    with path.open("ab") as file:
        file.write(line + b"\n")
    ledger.append(path, [drilled("a", 2)])
    held = ledger.read(path)
    assert held.drills == (drilled("a", 1), drilled("a", 2))
    (problem,) = held.problems
    assert problem.startswith("instruments.jsonl:2: ")


def test_a_torn_last_line_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "instruments.jsonl"
    path.write_bytes(b'{"check":"a","da')
    ledger.append(path, [drilled("b", 2)])
    assert ledger.read(path).drills == (drilled("b", 2),)


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    assert ledger.read(tmp_path).problems == (f"{tmp_path.name}: Is a directory",)


ON = {"function": "a" * 64, "test": "b" * 64}


def guard(day: int, *, caught: int = 3, on: dict[str, str] = ON) -> Instrument:
    return Instrument(
        kind="guard",
        name="tests/test_a.py::test_b → m:f",
        date=datetime.date(2026, 11, day),
        caught=caught,
        total=3,
        affidavit="0.1.0",
        word="PROVED",
        on=on,
        missed=("m.py:3: boundary: < → <=",) * (3 - caught),
        says="it is masked",
    )


def test_another_instrument_stands_beside_the_checks(tmp_path: Path) -> None:
    path = tmp_path / "instruments.jsonl"
    ledger.append(path, [drilled("a", 1), guard(2, caught=2)])
    ledger.append(path, [guard(3), drilled("b", 2)])
    held = ledger.read(path)
    assert held == Ledger(drills=(drilled("a", 1), drilled("b", 2)), instruments=(guard(2, caught=2), guard(3)))
    assert held.last_of("guard", guard(1).name) == guard(3) and held.last_of("watch", guard(1).name) is None


@pytest.mark.guards("affidavit.record.ledger:Instrument.holds_on", property="a proof holds on its code only")
def test_what_was_proved_on_other_code_is_unproved() -> None:
    assert guard(1).holds_on({"function": "a" * 64, "test": "b" * 64})
    assert not guard(1).holds_on({"function": "c" * 64, "test": "b" * 64})
    assert not guard(1, caught=2).holds_on(guard(1).on) and not guard(1).holds_on({})
    assert not guard(1, on={}).holds_on({}), "what names no code holds on none"


def test_a_line_of_before_there_were_others_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "instruments.jsonl"
    path.write_bytes(b'{"affidavit":"0.1.0","caught":5,"check":"a","date":"2026-11-01","run":"run-1","total":5}\n')
    assert ledger.read(path) == Ledger(drills=(drilled("a", 1),))


@pytest.mark.guards("affidavit.record.ledger:Drilled.doubt", property="a drill of other code, or of long ago, is none")
def test_a_drill_holds_on_its_code_and_for_its_days() -> None:
    one = Drilled(check="a", date=datetime.date(2026, 11, 1), caught=2, total=2, affidavit="0.1.0", code="a" * 64)
    day = datetime.date(2026, 11, 11)
    assert one.doubt("a" * 64, as_of=day, days=10) == ""
    assert one.doubt("a" * 64, as_of=day, days=9) == "proved 2026-11-01, more than 9 days ago"
    assert one.doubt("b" * 64, as_of=day, days=10) == "changed since"
    assert drilled("a", 1).doubt("b" * 64, as_of=day, days=10) == "", "a line of before there were digests"
    assert drilled("a", 1, caught=4).doubt("", as_of=day, days=10) == "4 of 5 sabotages caught"


@pytest.mark.guards("affidavit.record.ledger:Instrument.doubt", property="a proof holds for its code and its days")
def test_a_proof_says_what_changed_since() -> None:
    day = datetime.date(2026, 11, 11)
    assert guard(1).doubt(ON, as_of=day, days=10) == ""
    assert guard(1).doubt(ON, as_of=day, days=9) == "proved 2026-11-01, more than 9 days ago"
    assert guard(1).doubt({**ON, "test": "c" * 64}, as_of=day, days=10) == "changed since: test"
    assert guard(1).doubt({}, as_of=day, days=10) == "changed since: function, test"
    assert guard(1, on={}).doubt({}, as_of=day, days=10) == "changed since"
    unread = {**ON, "test": "unreadable: 5 bytes, 4 allowed"}
    assert guard(1, on=unread).doubt(unread, as_of=day, days=10) == "test cannot be read: 5 bytes, 4 allowed"
    many = dict.fromkeys("zyxw", "d" * 64)
    assert guard(1, on=many).doubt({}, as_of=day, days=10) == "changed since: w, x, y …"
    assert guard(1, on=dict.fromkeys("zyx", "d" * 64)).doubt({}, as_of=day, days=10) == "changed since: x, y, z"


def test_a_date_to_come_proves_nothing_and_hides_nothing() -> None:
    day = datetime.date(2026, 11, 2)
    to_come = guard(30)
    assert to_come.doubt(ON, as_of=day, days=10) == "dated 2026-11-30, which is not yet"
    assert guard(3).doubt(ON, as_of=day, days=10) == "", "another place may be a day ahead"
    assert drilled("a", 4).doubt("", as_of=day, days=10) == "dated 2026-11-04, which is not yet"
    held = Ledger(instruments=(to_come, guard(2, caught=2), guard(1)), drills=(drilled("a", 30), drilled("a", 1)))
    assert held.last_of("guard", to_come.name, day) == guard(2, caught=2)
    assert held.last("a", day) == drilled("a", 1)
    assert Ledger(drills=(drilled("a", 30),)).last("a", day) == drilled("a", 30), "it stands where it stands alone"
    assert held.last_of("guard", to_come.name) == to_come
