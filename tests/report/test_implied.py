"""What nobody asked for is listed with its owner; what somebody asked for is not."""

from __future__ import annotations

from affidavit.case import case_of
from affidavit.fact.values import Layers, Table, Value
from affidavit.record.owner import OPEN, RAN
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
    assert {one.fact.name: (one.said, one.owner) for one in found} == {
        "attention.configured": ("attention is configured as sdpa in 2 places", "default of the library"),
        "attention.kernels": ("attention ran as flash", "default of the library"),
    }


def test_a_setting_that_somebody_asked_for_is_not_listed() -> None:
    (kernels,) = implied.implied(_record("sdpa"))
    assert (kernels.fact.name, kernels.owner) == ("attention.kernels", "asked for by example")


def test_without_an_owner_the_source_of_the_unmade_request_is_named() -> None:
    assert {one.owner for one in implied.implied(_record("unstated"))} == {"nobody asked: example"}


def test_where_nobody_saw_who_decided_it_that_is_said_in_the_document_and_not_on_the_page() -> None:
    record = case_of(run={"weights.strangers": LAYERS, "optimizer.unowned": ("a.weight",)}).subject
    assert [one.owner for one in implied.implied(record)] == [RAN, OPEN]
    assert not [line for line in implied.lines(record) if RAN in line.text or OPEN in line.text]


def test_the_lines_say_the_setting_in_english_and_its_owner() -> None:
    record = _record("unstated", ("attention.configured", "default of the library"), ranks=2)
    drawn = "\n".join(line.text for line in implied.lines(record))
    assert "2 settings that nobody asked for" in drawn
    assert "attention is configured as sdpa in 2 places, rank 0-1  default of the library" in drawn
    assert "affidavit accept example" in drawn


def test_what_is_nothing_special_stands_in_one_line() -> None:
    usual = {
        "adapter.kind": "none",
        "optimizer.unowned": (),
        "weights.strangers": Layers(()),
        "schedule.kind": "linear",
    }
    drawn = [line.text.strip() for line in implied.lines(case_of(run=usual).subject)]
    assert drawn[1:4] == [
        "1 setting that nobody asked for",
        "the learning rate follows the schedule linear",
        "nothing unusual: no adapter; the optimizer owns all that gets a gradient; no weight is other than its file",
    ]


def test_a_record_that_knows_nothing_says_so() -> None:
    drawn = [line.text for line in implied.lines(case_of(run={"run.ranks": 1}).subject)]
    assert drawn == ["", "Nobody left anything open that this record knows."]
