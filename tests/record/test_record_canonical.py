"""One document has one sequence of bytes, and nothing else is read back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.record import canonical, ranks
from affidavit.record.canonical import CanonicalError
from affidavit.record.ranks import RankSetError

_DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="ascii")), inner),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(_DOCUMENTS)
def test_what_is_written_is_read_back_to_the_same_bytes(document: object) -> None:
    raw = canonical.encode(document)
    assert canonical.encode(canonical.parse(raw)) == raw


def test_the_bytes_are_those_of_rfc_8785() -> None:
    document = {"b": [1.0, 1e21, 0.000001, -0.0], "a": '\u20ac$\u000f\n"\\', "aa": 333333333.33333329}
    assert canonical.encode(document) == (
        '{"a":"\u20ac$\\u000f\\n\\"\\\\","aa":333333333.3333333,"b":[1,1e+21,0.000001,0]}'.encode()
    )
    assert str(canonical.digest({})) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize(
    "document",
    [{"é": 1}, {1: 2}, [math.nan], [math.inf], [2**53], [-(2**53)], ["\ud800"], [b"x"], [{1, 2}]],
    ids=repr,
)
def test_a_document_without_canonical_bytes_is_refused(document: object) -> None:
    with pytest.raises(CanonicalError):
        canonical.encode(document)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b'{"a":1,"a":2}', "stands twice"),
        (b'{"a":{"b":1,"b":1}}', "stands twice"),
        (b"[NaN]", "NaN"),
        (b"[-Infinity]", "Infinity"),
        (b"[1e999]", "beyond every double"),
        (b"[9007199254740993]", "9007199254740993"),
        (b"[" + b"9" * 5000 + b"]", "beyond every double"),
        (b'["\\ud800"]', "surrogate"),
        (b'{"\xc3\xa9":1}', "ASCII"),
        (b'["\xff"]', "UnicodeDecodeError"),
        (b"\xef\xbb\xbf[]", "BOM"),
        (b'{"a":', "Expecting value"),
        (b"", "Expecting value"),
        (b"[1] [2]", "Extra data"),
        (b"[" * 100_000, "RecursionError"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_hostile_bytes_are_refused_and_say_why(raw: bytes, why: str) -> None:
    with pytest.raises(CanonicalError, match=why):
        canonical.parse(raw)


def test_a_large_double_that_looks_like_an_integer_is_read_as_the_double() -> None:
    assert canonical.parse(canonical.encode([2.0**60, 1e20])) == [2.0**60, 1e20]


@pytest.mark.guards("affidavit.record.canonical:legible", property="no file name keeps a run from being sealed")
def test_a_file_name_that_is_not_utf8_is_written_out() -> None:
    legible = canonical.legible({"a": ["x\udc80", ("y",), 1]})
    assert legible == {"a": ["x\\udc80", ["y"], 1]}
    assert canonical.encode(legible)


@pytest.mark.guards("affidavit.record.ranks:written", property="ranks are written so that they can be read")
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.sets(st.integers(0, 5000), max_size=60))
def test_ranks_are_read_back(found: set[int]) -> None:
    assert ranks.read(ranks.written(found)) == tuple(sorted(found))
    assert ranks.written((0, 1, 2, 5)) == "0-2,5"


@pytest.mark.parametrize(
    "text", ["-1", "2-", "3-1", "1,1", "2,1", "0-1,2", "a", " 1", "01", "0-9999999", "0-99999999999", "²"]
)
def test_a_text_that_is_no_rank_set_is_refused(text: str) -> None:
    with pytest.raises(RankSetError):
        ranks.read(text)
