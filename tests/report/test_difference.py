from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.world import RUN, healthy

from affidavit.case import case_of
from affidavit.fact.observation import Cause, Unknown
from affidavit.fact.term import Category
from affidavit.fact.values import Layers, Table, Tally, Value
from affidavit.record.lock import accepted, read_lock, write_lock
from affidavit.record.record import Record
from affidavit.report import document
from affidavit.report.difference import compare, lines
from affidavit.report.terminal import Tone, draw

LEFT = healthy().subject


def meaning(left: Record, right: Record) -> list[str]:
    """Return what is said of each difference of meaning that no other explains."""
    drawn = list(lines(compare(left, right)))
    return [one.text.strip() for one in drawn[1:] if one.body[0].tone is Tone.STRONG]


def other(**changes: object) -> Record:
    return case_of(run={**RUN, **{name.replace("__", "."): value for name, value in changes.items()}}).subject


def test_a_difference_of_meaning_is_a_sentence_with_both_sides_and_who_decided_them() -> None:
    (said,) = meaning(LEFT, other(attention__kernels=("math",)))
    assert said == "attention ran as flash (A) / math (B)  A and B: asked for by example"
    eager = Layers.of({f"layers.{layer}.self_attn": "eager" for layer in range(4)})
    (said,) = meaning(LEFT, other(attention__requested="unstated", attention__configured=eager))
    assert said == (
        "attention is configured as sdpa in 4 places (A) / eager in 4 places (B)  "
        "A: asked for by example; B: nobody asked: example"
    )


def test_what_moves_with_its_cause_is_folded_under_it_and_stands_alone_without() -> None:
    eager = Layers.of({f"layers.{layer}.self_attn": "eager" for layer in range(4)})
    found = compare(LEFT, other(attention__configured=eager, attention__kernels=("eager",)))
    assert [(one.difference.name, one.under) for one in found.changes] == [
        ("attention.configured", ""),
        ("attention.kernels", "attention.configured"),
    ]
    drawn = [one.text for one in lines(found)]
    assert drawn[2].strip() == "with it: attention ran as flash (A) / eager (B)"


def test_one_layer_that_differs_is_named_and_the_others_are_not() -> None:
    configured = RUN["attention.configured"]
    assert isinstance(configured, Layers)
    (said,) = meaning(LEFT, other(attention__configured=configured.with_layer("layers.2.self_attn", "eager")))
    assert said.startswith("attention is configured as layers.2.self_attn sdpa (A) / eager (B)  ")


def test_layers_of_which_one_side_stands_deeper_in_a_wrapper_are_the_same() -> None:
    wrapped = Layers.of({f"base.model.layers.{layer}.self_attn": "sdpa" for layer in range(4)})
    assert meaning(LEFT, other(attention__configured=wrapped)) == []
    assert meaning(LEFT, other(attention__configured=wrapped.with_layer("base.model.layers.0.self_attn", "x"))) != []


@pytest.mark.parametrize(
    ("name", "ours", "theirs", "said"),
    [
        ("model.checkpointing", "off", "on", "no gradient checkpointing (A) / gradient checkpointing is on (B)"),
        (
            "weights.moved",
            Tally.count("tensors", {"moved": 54}),
            Tally.count("tensors", {"moved": 33, "still": 21, "gone": 0}),
            "of the parameters, moved 54 (A) / 33 (B); still 0 (A) / 21 (B)",
        ),
        (
            "optimizer.settings",
            ("amsgrad=False", "betas=(0.9, 0.999)", "decoupled_weight_decay=True", "eps=1e-08"),
            ("amsgrad=False", "betas=(0.9, 0.95)", "decoupled_weight_decay=True", "eps=1e-08"),
            "the optimizer is set to betas=(0.9, 0.999) (A) / betas=(0.9, 0.95) (B)",
        ),
        (
            "dataset.columns",
            Table(("column", "reached"), (("a", "model"), ("b", "left out"))),
            Table(("column", "reached"), (("a", "model"), ("b", "collator"))),
            "columns of the rows end up here: b, left out (A); b, collator (B)",
        ),
    ],
)
def test_of_long_values_the_parts_that_differ_are_said(name: str, ours: Value, theirs: Value, said: str) -> None:
    assert meaning(case_of(run={name: ours}).subject, case_of(run={name: theirs}).subject) == [said]


def test_a_filter_that_left_no_row_out_is_no_difference() -> None:
    columns = ("whose", "why", "before", "after")
    some = [Table(columns, rows) for rows in ((), (("trl", "masked", 64, 64),), (("trl", "masked", 64, 60),))]
    none, idle, some_left = (case_of(run={"dataset.filters": table}).subject for table in some)
    assert meaning(none, idle) == []
    (said,) = meaning(idle, some_left)
    assert said == "filters of the trainer left rows out: trl, masked, 64, 60 (B)"


def test_what_only_one_side_asked_for_is_said_where_the_same_came_of_it() -> None:
    found = compare(LEFT, other(attention__requested="unstated"))
    assert not found.changes_meaning
    assert found.asked == ("attention.configured (A: example)",)
    assert "asked for on one side only, with the same result: attention.configured" in draw(lines(found))


def test_what_one_side_alone_knows_is_one_line_by_its_cause_and_hides_meaning() -> None:
    blind = replace(
        LEFT,
        facts=tuple(
            replace(fact, state=Unknown(Cause.NO_ADAPTER, "")) if fact.name.startswith("attention.") else fact
            for fact in LEFT.facts
            if fact.name != "tokens.supervised_roles"
        ),
    )
    found = compare(LEFT, blind)
    assert not found.differences and found.hides_meaning
    assert [why for why, _ in found.one_sided] == [
        "not recorded in B",
        f"unknown in B ({Cause.NO_ADAPTER.value})",
    ]
    assert compare(blind, LEFT).one_sided[0][0] == "not recorded in A"


def test_a_lock_is_compared_in_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    write_lock(path, "sft", accepted(LEFT), vocabulary=LEFT.vocabulary)
    held = read_lock(path, "sft", LEFT.vocabulary)
    assert held is not None
    same = compare(held, LEFT)
    assert not same.differences and not same.one_sided and not same.asked and same.equal == len(held.facts)
    (said,) = meaning(held, other(attention__kernels=("math",)))
    assert said == "attention ran as flash (A) / math (B)  A and B: asked for by example"


def test_what_is_incidental_is_folded_into_a_count_until_it_is_asked_for() -> None:
    found = compare(LEFT, other(tree__commit="0000000000000000"))
    assert [difference.category for difference in found.differences] == [Category.INCIDENTAL]
    page = draw(lines(found))
    assert "no difference in any fact of meaning" in page
    assert "1 incidental difference: tree.commit" in page and "3fa2b1c" not in page
    assert "3fa2b1cdeadbeef0" in draw(lines(found, every=True))


def test_two_ignorances_are_not_called_equal() -> None:
    blind = replace(LEFT, facts=tuple(replace(fact, state=Unknown(Cause.NO_ADAPTER, "")) for fact in LEFT.facts))
    found = compare(blind, blind)
    assert found.equal == 0 and len(found.unseen) == len(LEFT.facts)
    assert "unknown in both, so not compared" in draw(lines(found))
    assert compare(LEFT, blind).equal == 0


def test_equal_records_are_equal_in_every_fact() -> None:
    found = compare(LEFT, LEFT)
    assert found.equal == len(LEFT.facts) and not found.differences and not found.unseen


def test_the_document_holds_every_category() -> None:
    found = compare(LEFT, other(tree__commit="0000000000000000", attention__kernels=("math",)))
    said = document.difference(found)
    assert [entry["category"] for entry in said["differences"]] == ["meaning", "incidental"]
