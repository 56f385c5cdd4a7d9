"""Two records differ where they say different things, and what was not seen equals nothing that was."""

from __future__ import annotations

import pytest
from record_world import FLASH, MATH, WORDS, fact, record

from affidavit.fact.observation import Cause, Unknown
from affidavit.fact.term import Category, UnknownTermError
from affidavit.fact.values import Layers, Table, Value
from affidavit.record.compare import differ, display
from affidavit.record.record import Fact

EXECUTED, CONFIGURED = "attention.executed", "attention.configured"


def test_equal_records_do_not_differ_and_ranks_alone_are_no_difference() -> None:
    one, two = record(fact(EXECUTED, FLASH, ranks=(0, 1)), world=2), record(fact(EXECUTED, FLASH))
    assert differ(one, two, [EXECUTED]) == ()


def test_what_was_not_seen_is_not_equal_to_what_was() -> None:
    unknown = Fact(name=EXECUTED, state=Unknown(Cause.NOT_REACHED, ""), ranks=(0,))
    (absent,) = differ(record(fact(EXECUTED, FLASH)), record(), [EXECUTED])
    (missed,) = differ(record(fact(EXECUTED, FLASH)), record(unknown), [EXECUTED])
    assert absent.right == "nothing recorded" and missed.right.startswith("unknown (the run ended before")
    assert absent.category is WORDS[EXECUTED].category is Category.INCIDENTAL


def test_a_rank_that_differs_is_a_difference() -> None:
    one = record(fact(EXECUTED, FLASH), fact(EXECUTED, MATH, ranks=(1,)), world=2)
    (found,) = differ(one, record(fact(EXECUTED, FLASH)), [EXECUTED])
    assert found.left == "4 flash and 4 math"


_LAYERS = Layers.of({f"layers.{layer}.attn": "sdpa" for layer in range(8)})
_ROWS = Table(("path", "verdict"), (("a.py", "edited"), ("b.py", "untracked")))


@pytest.mark.parametrize(
    ("name", "left", "right", "where"),
    [
        (EXECUTED, FLASH, MATH, ("flash 4 → 0", "math 0 → 4")),
        (CONFIGURED, _LAYERS, _LAYERS.with_layer("layers.3.attn", "eager"), ("layers.3.attn sdpa → eager",)),
        ("tree.deviations", _ROWS, _ROWS.without_row(1), ("row ('b.py', 'untracked')",)),
        ("attention.kernels", ("flash", "math"), ("math", "efficient"), ("-flash", "+efficient")),
        ("adapter.kind", "lora", "none", ()),
    ],
)
def test_the_parts_that_differ_are_named(name: str, left: Value, right: Value, where: tuple[str, ...]) -> None:
    ranks = () if name.startswith("tree.") else (0,)
    (found,) = differ(record(fact(name, left, ranks=ranks)), record(fact(name, right, ranks=ranks)), [name])
    assert found.where == where
    assert str(found).startswith(f"{name}: {display(left)} against {display(right)}")


def test_only_named_terms_are_compared_and_an_unknown_name_is_an_error() -> None:
    one, two = record(fact(EXECUTED, FLASH)), record(fact(EXECUTED, MATH))
    assert differ(one, two, []) == ()
    with pytest.raises(UnknownTermError, match="did you mean"):
        differ(one, two, ["attention.exected"])


@pytest.mark.parametrize(("value", "said"), [((), "none"), (("a", "b"), "a, b"), (12345, "12,345"), (True, "True")])
def test_a_value_is_shown_as_a_reader_sees_it(value: Value, said: str) -> None:
    assert display(value) == said
