"""Quantities in text: what is one, in which unit and how exactly, and what only looks like one."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.claims.quantity import Quantity, in_form, quantities, quantity_of, same

READ = {
    "145.5 s": (145.5, "time", 0.05),
    "2m25.5s": (145.5, "time", 0.05),
    "1h 12m": (4320, "time", 30),
    "1h12m": (4320, "time", 30),
    "1 hour and 12 minutes": (4320, "time", 30),
    "1 day 2 h": (93600, "time", 1800),
    "2:25 min": (145, "time", 0.5),
    "1:12 h": (4320, "time", 30),
    "0:02:25.5 h": (145.5, "time", 0.05),
    "4.3 HOURS": (15480, "time", 180),
    "4.3-hour": (15480, "time", 180),
    "258 min": (15480, "time", 30),
    "~258 min": (15480, "time", 60),
    "about 15,000 s": (15000, "time", 1000),
    "15,480 s": (15480, "time", 0.5),
    "15\u202f480 s": (15480, "time", 0.5),
    "90 ms": (0.09, "time", 0.0005),
    "90 ms/step": (0.09, "time", 0.0005),
    "12 µs": (12e-6, "time", 0.5e-6),
    "3 weeks": (3 * 604800, "time", 302400),
    "145.5 ± 0.3 s": (145.5, "time", 0.3),
    "3 MB": (3e6, "bytes", 5e5),
    "3 MiB": (3 * 2**20, "bytes", 2**19),
    "12 GB/s": (12e9, "bytes/s", 5e8),
    "68 %": (0.68, "fraction", 0.005),
    "8.6% MFU": (0.086, "fraction", 0.0005),
    "68 per cent": (0.68, "fraction", 0.005),
    "50%% of": (0.5, "fraction", 0.005),
    "-3.2 %": (-0.032, "fraction", 0.0005),
    "2.1 percentage points": (0.021, "percentage points", 0.0005),
    "3,200 tok/s": (3200, "tokens/s", 0.5),
    "3200 tokens per second": (3200, "tokens/s", 0.5),
    "3.2k tok/s": (3200, "tokens/s", 50),
    "120 tokens/s/GPU": (120, "tokens/s", 0.5),
    "1,200 tokens/min": (20, "tokens/s", 0.5 / 60),
    "12 samples/s": (12, "samples/s", 0.5),
    "2.3 it/s": (2.3, "steps/s", 0.05),
    "2.3 steps/s": (2.3, "steps/s", 0.05),
    "150 TFLOP/s": (150e12, "FLOP/s", 5e11),
    "150 TFLOPS": (150e12, "FLOP/s", 5e11),
    "1.5e15 FLOPs": (1.5e15, "FLOP", 5e13),
    "1.5×10^15 FLOPs": (1.5e15, "FLOP", 5e13),
    "300 optimizer steps": (300, "steps", 0.5),
    "312 shard files": (312, "files", 0.5),
    "500k rows": (500e3, "rows", 500),
    "2 million tokens": (2e6, "tokens", 5e5),
    "135M params": (135e6, "parameters", 5e5),
    "135M-parameter": (135e6, "parameters", 5e5),
    "$1,200.50": (1200.5, "dollars", 0.005),
    "$1.5M": (1.5e6, "dollars", 5e4),
    "20 USD": (20, "dollars", 0.5),
    "€20": (20, "euros", 0.5),
    "**145.5 s**": (145.5, "time", 0.05),
    "~~4.3 h~~": (15480, "time", 180),
    "took:4.3h": (15480, "time", 180),
    "--time=4.3h": (15480, "time", 180),
    "+ 20 µs": (20e-6, "time", 0.5e-6),
}
"""A text that holds one quantity, with its value and half its rounding in the base unit."""

NONE = (
    *("H200", "A100 s", "s3 h", "2D", "3d", "12m", "4K", "5 it", "100 Mb", "2e-5", "4.3", "16:9"),
    *("08-24", "08-24 h", "2026-12-01", "2026-12-01 h", "12:30", "at 10:30 h", "1990s", "in the 90s", "100s of them"),
    *("§4.3", "§4.3 s", "section 4 h", "chapter 5 s", "Table 3 steps", "line 145 s", "v5.2 s", "5.24.0", "5.24.0 s"),
    *(
        "gemma-4",
        "gemma-4 s",
        "SmolLM2-135M params",
        "H200-4 s",
        "stage 3 parameters",
        "rank 3 tokens",
        "Python 3 files",
    ),
    *("3f2a5 s", "12345678abc", "0x10 h", "deadbee5 s", "x.py:145", "x.py:145 s", "10.0.0.1 s", ":8080 s"),
    *("https://x.org/4.3h?t=145s", "see http://x.org/a/90s", "path/4 s", "top_5 s", "epoch@5 s", "a[1]5 s", "60*5 s"),
    *("s[3]", "5 in x", "x=3 if y", "i % 5", "%3 s", "%.3 s", "%5.1f s", "{:3 s}", "{% if x > 5 %}", "10%s", "%20s"),
    *(
        "2 min(3)",
        "3 s.join(x)",
        "5 h= 3",
        "1,2 s",
        "1/2 h",
        "4.3 GPU-hours",
        "$1 and $3",
        "$100/month",
        "$2.50 per hour",
    ),
)


def one(text: str) -> Quantity:
    (found,) = quantities(text)
    return found


@pytest.mark.parametrize("text", READ)
def test_a_quantity_is_read_with_its_unit_and_its_rounding(text: str) -> None:
    value, dimension, half = READ[text]
    found = one(text)
    assert (found.value, found.dimension) == (pytest.approx(value), dimension)
    assert float(found.half_width) == pytest.approx(half)
    assert text[found.start : found.end] == found.written


@pytest.mark.parametrize("text", READ)
@pytest.mark.parametrize("around", ["it took {} then", "({})", "`{}`", "| {} |", "# {}", "'{}',", "{}.", "x\n{}\n"])
def test_what_stands_around_it_changes_nothing(text: str, around: str) -> None:
    written = around.format(text)
    (found,) = quantities(written)
    assert found.exact == one(text).exact
    assert written[found.start : found.end] == one(text).written
    assert found.line == written.count("\n", 0, found.start) + 1


@pytest.mark.parametrize("text", NONE)
def test_what_only_looks_like_a_quantity_is_none(text: str) -> None:
    assert quantities(text) == ()


@pytest.mark.parametrize("text", ["4-5 h", "4–5 h", "4 to 5 hours", "~4--5 h"])
def test_a_range_is_two(text: str) -> None:
    low, high = quantities(text)
    assert (low.value, high.value) == (14400, 18000)
    assert low.end <= high.start


def test_what_a_library_of_units_misreads_is_read() -> None:
    """The table of what pint and quantulum3 make of such text: an error, a metre to the 25, 12 hour-metres."""
    text = "4.3 HOURS, 145.5 s, 2m25.5s, 1h 12m, 3,200 tok/s and 8.6% MFU on an H200 since 08-24 (§4.3, v5.2, 2:25)"
    assert [(found.value, found.dimension) for found in quantities(text)] == [
        (15480, "time"),
        (145.5, "time"),
        (145.5, "time"),
        (4320, "time"),
        (3200, "tokens/s"),
        (pytest.approx(0.086), "fraction"),
    ]


def test_four_ways_to_write_the_seed_are_one_quantity() -> None:
    ways = [one(text) for text in ("4.3 h", "4.3 HOURS", "~258 min", "15,480 s")]
    assert all(same(a, b) for a in ways for b in ways)
    assert not any(
        same(way, one("145.5 s")) or same(way, one("4.4 h")) or same(way, one("15,480 tokens")) for way in ways
    )


def test_the_coarser_of_two_says_how_near_is_near() -> None:
    assert same(one("4 h"), one("4.3 h"))
    assert not same(one("4.0 h"), one("4.3 h"))
    assert same(one("about 4 h"), one("4.9 h"))
    assert not same(one("3.00 MB"), one("3.00 MiB"))


def test_a_measured_value_is_exact() -> None:
    measured = quantity_of(145.532, "s")
    assert measured is not None
    assert (measured.exact, measured.half_width) == (Decimal("145.532"), 0)
    assert same(measured, one("145.5 s"))
    assert same(measured, one("2m25.5s"))
    assert quantity_of(3, "bananas") is None
    assert quantity_of(3, "") is None
    assert quantity_of(float("nan"), "s") is None


def test_a_value_takes_the_form_of_the_place_unless_it_would_be_lost_in_it() -> None:
    assert in_form(Decimal("12000"), one("4.3 HOURS")) == "3.3 HOURS"
    assert in_form(Decimal("145.532"), one("4.3 HOURS")) == ""
    assert in_form(Decimal("145.532"), one("151.2s")) == "145.5s"
    assert in_form(Decimal("20000"), one("15,480 s")) == "20,000 s"


@given(
    st.decimals(min_value="0.01", max_value=10**7, places=3),
    st.sampled_from(
        ["s", "ms", "h", "minutes", "MiB", "GB", "%", "tokens/s", "TFLOP/s", "steps", "rows", "params", "USD"]
    ),
    st.sampled_from(["{} {}", "{:,} {}", "about {} {}", "({} {})", "x={} {}"]),
)
def test_what_is_written_is_read_back(value: Decimal, unit: str, form: str) -> None:
    found = one(form.format(value, unit))
    expected = quantity_of(float(value), unit)
    assert expected is not None
    assert found.dimension == expected.dimension
    assert same(found, expected)
    assert in_form(found.exact, found) in form.format(value, unit)


@given(st.text(alphabet="0123456789.,:~-–±%$€hsm kMtokGB/[](){}_§#\n\x00é", max_size=80))
def test_no_text_breaks_the_reader(text: str) -> None:
    for found in quantities(text):
        assert text[found.start : found.end] == found.written
        assert found.half_width >= 0
