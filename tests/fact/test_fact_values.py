"""The algebra of values is closed: one JSON form each, back the same, and nothing else is taken."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.fact.encoding import from_json, to_json
from affidavit.fact.values import Digest, Layers, Series, Table, Tally, Value, ValueShapeError

FLASH = Tally.count("calls", {"flash": 4, "math": 0})
ROWS = Table(("role", "tokens"), (("user", 3), ("assistant", 9)))


@pytest.mark.parametrize(
    "value",
    [
        True,
        1,
        1.0,
        0,
        False,
        2**53,
        -(2**70),
        math.inf,
        -math.inf,
        1e300,
        "text",
        "",
        "é\u2028",
        "name\udcff",
        "\ud800",
        (),
        ("a", "b\udc80"),
        Digest("sha256", "ab" * 32),
        FLASH,
        Tally.count("odd\udc80", {"kind\udc80": 2**60}),
        ROWS,
        Table(("a",), ()),
        Table(("x\udc80",), ((math.inf,),)),
        Series((1, 2, 2**60), (0.5, math.inf, -0.25), "loss"),
        Layers.of({"layers.0.attn": "sdpa", "layers.1.attn": "sdpa", "head": "none"}),
    ],
    ids=repr,
)
def test_a_value_comes_back_the_same_with_its_type(value: Value) -> None:
    written = json.dumps(to_json(value), allow_nan=False)
    assert "\\ud" not in written.lower() or "bytes" in written
    back = from_json(json.loads(written))
    assert back == value and type(back) is type(value)


def test_not_a_number_is_a_value_and_stays_one() -> None:
    back = from_json(json.loads(json.dumps(to_json(math.nan), allow_nan=False)))
    assert isinstance(back, float) and math.isnan(back)


def test_one_and_one_point_nought_are_not_the_same_bytes() -> None:
    assert len({json.dumps(to_json(value)) for value in (True, 1, 1.0, "1")}) == 4


@pytest.mark.parametrize("value", [None, [], {}, {"a": 1}, b"x", (1, 2), object(), {"a"}, 1j])
def test_what_is_outside_the_algebra_is_no_value(value: object) -> None:
    with pytest.raises(ValueShapeError, match="expected one of bool, int"):
        to_json(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "raw",
    [
        None,
        1,
        {},
        {"int": 1, "str": "a"},
        {"complex": 1},
        {"bool": 1},
        {"int": True},
        {"int": 1.0},
        {"int": 2**53},
        {"int": "1_000"},
        {"int": "٣"},
        {"int": "9" * 10_000},
        {"float": "huge"},
        {"float": None},
        {"str": 3},
        {"str": {"bytes": "not base64!"}},
        {"str": {"bytes": "AAAA", "more": 1}},
        {"strings": "ab"},
        {"strings": [1]},
        {"digest": "md5"},
        {"digest": "sha256:xyz"},
        {"tally": {"of": "calls"}},
        {"tally": {"of": "calls", "counts": [["b", 1], ["a", 1]]}},
        {"tally": {"of": "calls", "counts": [["a", 1], ["a", 2]]}},
        {"tally": {"of": "calls", "counts": [["a", -1]]}},
        {"tally": {"of": "calls", "counts": [["a"]]}},
        {"table": {"columns": ["a"], "types": ["os"], "rows": []}},
        {"table": {"columns": ["a"], "types": ["int"], "rows": [[1, 2]]}},
        {"table": {"columns": ["a", "a"], "types": ["int", "int"], "rows": []}},
        {"series": {"x": [2, 1], "y": [1, 1], "unit": ""}},
        {"series": {"x": [1], "y": [], "unit": ""}},
        {"layers": [["a"]]},
        {"layers": [["a.{0..999999999}", "sdpa"]]},
        {"layers": [["a.{999999999..0}", "sdpa"], ["b.{0..999999999}", "sdpa"]]},
    ],
    ids=lambda raw: repr(raw)[:40],
)
def test_a_form_that_we_do_not_write_is_refused_and_shown(raw: object) -> None:
    with pytest.raises(ValueShapeError) as caught:
        from_json(raw)
    assert len(str(caught.value)) < 400


def test_a_tally_keeps_what_counted_nothing() -> None:
    assert FLASH["math"] == 0 == FLASH["never named"]
    assert (FLASH.kinds, FLASH.total, str(FLASH)) == (("flash",), 4, "4 flash, 0 math")
    assert FLASH.moved("flash", "math", 3) == Tally.count("calls", {"flash": 1, "math": 3})
    with pytest.raises(ValueShapeError, match="non-negative"):
        FLASH.moved("flash", "math", 5)


def test_a_table_changes_by_cell_and_row_and_keeps_its_types() -> None:
    assert ROWS.with_cell(0, "tokens", 4).column("tokens") == (4, 9)
    assert ROWS.without_row(0).records() == ({"role": "assistant", "tokens": 9},)
    assert ROWS.with_row("system", 1).column("role") == ("user", "assistant", "system")
    for broken in (lambda: ROWS.with_cell(0, "tokens", "4"), lambda: ROWS.with_row("system")):
        with pytest.raises(ValueShapeError):
            broken()


def test_a_series_changes_at_one_step() -> None:
    assert Series((1, 2), (0.5, 0.4), "loss").at(2, 0.0).y == (0.5, 0.0)


def test_layers_fold_neighbours_and_no_others() -> None:
    layers = Layers.of({f"layers.{n}.attn": "eager" if n == 2 else "sdpa" for n in range(12)})
    assert layers.runs == (
        ("layers.{0..1}.attn", "sdpa"),
        ("layers.2.attn", "eager"),
        ("layers.{3..11}.attn", "sdpa"),
    )
    assert layers.kinds == ("eager", "sdpa")
    assert layers.with_layer("layers.2.attn", "sdpa").runs == (("layers.{0..11}.attn", "sdpa"),)
    with pytest.raises(ValueShapeError, match=r"no module 'layers\.12\.attn'"):
        layers.with_layer("layers.12.attn", "sdpa")


_PATHS = st.lists(st.sampled_from(["layers", "attn", "0", "1", "2", "10", "01", "²", "x"]), min_size=1, max_size=4).map(
    ".".join
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.dictionaries(_PATHS, st.sampled_from(["sdpa", "eager"]), max_size=12))
def test_folding_layers_loses_nothing(values: dict[str, str]) -> None:
    assert Layers.of(values).expand() == values
    assert Layers.of(dict(reversed(values.items()))) == Layers.of(values)


@pytest.mark.parametrize("text", ["sha256", "sha256:", "sha256:XY", "SHA:" + "a" * 16, "sha256:" + "a" * 129])
def test_a_digest_names_its_algorithm_and_is_hexadecimal(text: str) -> None:
    with pytest.raises(ValueShapeError):
        Digest.parse(text)
    assert str(Digest.parse("sha256:" + "0" * 64)) == "sha256:" + "0" * 64
