"""What nobody asked for is listed with its owner; what somebody asked for is not."""

from __future__ import annotations

from affidavit.case import case_of
from affidavit.fact.values import Layers, Table, Value
from affidavit.record.record import Record
from affidavit.report import implied

LAYERS = Layers.of({f"layers.{layer}.self_attn": "sdpa" for layer in range(2)})


def _record(asked: str, *owners: tuple[str, str], ranks: int = 1) -> Record:
    run: dict[str, Value] = {
        "attention.requested": asked,
        "attention.configured": LAYERS,
        "attention.kernels": ("flash",),
        "run.owners": Table(("fact", "owner"), owners),
    }
    return case_of(run=run, ranks=ranks).subject


def test_a_setting_that_nobody_asked_for_stands_with_its_owner() -> None:
    found = implied.implied(_record("unstated", ("attention.configured", "default of the library")))
    owners = {one.fact.name: one.owner for one in found}
    assert owners == {"attention.configured": "default of the library", "attention.kernels": implied.RAN}


def test_a_setting_that_somebody_asked_for_is_not_listed() -> None:
    assert [one.fact.name for one in implied.implied(_record("sdpa"))] == ["attention.kernels"]


def test_without_an_owner_the_source_of_the_unmade_request_is_named() -> None:
    (configured, _) = implied.implied(_record("unstated"))
    assert configured.owner == "example"


def test_the_lines_name_the_setting_the_value_and_the_owner() -> None:
    record = _record("unstated", ("attention.configured", "default of the library"), ranks=2)
    drawn = "\n".join(line.text for line in implied.lines(record))
    assert "2 settings that nobody asked for" in drawn
    assert "attention.configured  rank 0-1" in drawn and "sdpa" in drawn and "default of the library" in drawn
    assert "affidavit accept example" in drawn


def test_a_record_that_knows_nothing_says_so() -> None:
    drawn = [line.text for line in implied.lines(case_of(run={"run.ranks": 1}).subject)]
    assert drawn == ["", "Nobody left anything open that this record knows."]
