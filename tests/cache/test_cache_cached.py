"""A cached function returns what it returned, and is called again for whatever could have moved that."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import affidavit
from affidavit.attach.moment import CacheHit
from affidavit.cache.encoding import tell
from affidavit.cache.encoding.tell import CacheWarning
from affidavit.cache.store import Store
from affidavit.cache.store.plainly import put_together, taken_apart

numpy = pytest.importorskip("numpy")
pyarrow = pytest.importorskip("pyarrow")

FACTOR = 2
MASK = ("a",)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tell, "_SAID", set())


@pytest.fixture
def hits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[CacheHit]]:
    heard: list[CacheHit] = []
    monkeypatch.setattr(tell, "fire", heard.append)
    return heard


def doubled(numbers: list[int], add: int = 0) -> list[int]:
    return [FACTOR * number + add for number in numbers]


def read(path: Path) -> int:
    return len(path.read_text())


def read_by_name(name: str) -> int:
    return len(Path(name).read_text())


def anything(value: Any) -> Any:
    return value


def _cached(function: Callable[..., Any], store: Path, **said: Any) -> Callable[..., Any]:
    return affidavit.cached(store=store, **said)(function)


def test_a_result_is_kept_and_each_input_moves_the_key(
    tmp_path: Path, hits: list[CacheHit], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = _cached(doubled, tmp_path)
    assert kept([1, 2]) == [2, 4]
    assert not hits
    assert kept([1, 2]) == kept(numbers=[1, 2], add=0) == [2, 4]
    assert len(hits) == 2, "a default that is written out is the same call"
    assert kept([1, 3]) == [2, 6]
    assert kept([1, 2], add=1) == [3, 5]
    assert len(hits) == 2
    monkeypatch.setattr(f"{__name__}.FACTOR", 3)
    assert kept([1, 2]) == [3, 6], "the global it reads"
    assert _cached(doubled, tmp_path, covers={"mask": MASK})([1, 2]) == [3, 6]
    assert _cached(doubled, tmp_path, config={"length": 3})([1, 2]) == [3, 6]
    assert len(hits) == 2
    assert len(list(Store(tmp_path).entries())) == 6


def test_a_hit_can_be_held_against_its_function(
    tmp_path: Path, hits: list[CacheHit], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = _cached(doubled, tmp_path)
    kept([1])
    kept([1])
    (hit,) = hits
    assert hit.stored([0]) == hit.recompute([0]) == [[2]]
    assert (hit.cache, hit.rows) == ("affidavit.cached", 1)


def test_a_path_counts_by_what_lies_there(tmp_path: Path, hits: list[CacheHit]) -> None:
    file = tmp_path / "names"
    file.write_text("abc")
    kept = _cached(read, tmp_path / "store")
    assert kept(file) == kept(file) == 3
    assert len(hits) == 1
    file.write_text("abcd")
    assert kept(file) == 4


def test_a_file_that_nobody_named_accuses_the_key(tmp_path: Path, hits: list[CacheHit]) -> None:
    named, other = tmp_path / "named", tmp_path / "other.txt"
    named.write_text("abc")
    other.write_text("ab")

    def both(path: Path) -> int:
        return len(path.read_text()) + read_by_name(str(other))

    kept = _cached(both, tmp_path / "store")
    with pytest.warns(CacheWarning, match=r"both is not cached: expected .*, saw it opened other\.txt"):
        assert kept(named) == 5
    other.write_text("abcdef")
    assert kept(named) == 9
    assert not hits
    whole = _cached(both, tmp_path / "store", artifacts=[other])
    assert whole(named) == whole(named) == 9
    assert len(hits) == 1


def test_a_call_without_a_key_is_made_each_time_and_said_once(tmp_path: Path) -> None:
    def draws() -> float:
        import random

        return random.random()

    kept = _cached(draws, tmp_path)
    with pytest.warns(CacheWarning, match=r"draws is not cached\. cache key, random"):
        first = kept()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kept() != first


@pytest.mark.parametrize(
    "value",
    [
        None,
        [1, 2.5, "text", True, None],
        {"a": {"b": (1, (2,))}, "c": [b"\x00\xff"]},
        {1: "int", ("a", 2): "tuple", "$": "tag", None: 0},
        {"$": "beside", "of": 3},
        -0.0,
        math.inf,
        {"z": 1, "a": 2},
        "\ud800 and ü",
        2**70,
    ],
    ids=repr,
)
def test_plain_values_come_back_as_they_were(tmp_path: Path, value: Any) -> None:
    kept = _cached(lambda: value, tmp_path)
    for found in (kept(), kept()):
        assert found == value
        assert repr(found) == repr(value)


def test_arrays_and_tables_come_back_as_they_were(tmp_path: Path, hits: list[CacheHit]) -> None:
    table = pyarrow.table({"ids": [[1], [2, 3]]})
    arrays = [numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)), numpy.array(3, "int8")]

    def made() -> Any:
        return {"arrays": arrays, "table": table}

    kept = _cached(made, tmp_path)
    kept()
    found = kept()
    assert len(hits) == 1
    assert found["table"].equals(table)
    for one, other in zip(found["arrays"], arrays):
        assert one.dtype == other.dtype
        assert one.flags.f_contiguous == other.flags.f_contiguous
        assert (one == other).all()
    found["arrays"][0][0, 0] = 9
    assert kept()["arrays"][0][0, 0] == 0, "what one caller changes is not the other's"


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, numpy.array([object()]), [iter(())]], ids=lambda value: str(type(value))
)
def test_what_has_no_plain_form_is_not_stored(tmp_path: Path, value: Any) -> None:
    def made() -> Any:
        return [value]

    kept = _cached(made, tmp_path, irrelevant={})
    with pytest.warns(CacheWarning, match="made is not cached"):
        assert kept()[0] is value
    assert list(Store(tmp_path).entries()) == []


def test_no_pickle_is_written_or_read(tmp_path: Path) -> None:
    kept = _cached(lambda: {"a": numpy.arange(3), "b": [1]}, tmp_path)
    kept()
    shards = list(tmp_path.glob("*/shard-*"))
    assert sorted(path.suffix for path in shards) == [".json", ".npy"]
    assert not any(path.read_bytes().startswith(b"\x80") for path in shards)


def test_a_damaged_result_is_made_again(tmp_path: Path, hits: list[CacheHit]) -> None:
    kept = _cached(doubled, tmp_path)
    kept([1, 2])
    (shard,) = tmp_path.glob("*/shard-*")
    shard.write_bytes(b"[2,9]")
    with pytest.warns(CacheWarning, match="a damaged result is set aside as"):
        assert kept([1, 2]) == [2, 4]
    assert not hits
    assert kept([1, 2]) == [2, 4]


def test_without_brackets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path))
    kept = affidavit.cached(doubled)
    assert kept([2]) == kept([2]) == [4]
    assert kept.__name__ == "doubled"
    assert len(list(Store().entries())) == 1


def test_a_tag_in_a_value_is_no_tag() -> None:
    value = {"$": "float", "of": "1"}
    said, beside = taken_apart(value)
    assert beside == []
    assert put_together(said, lambda _: None) == value


def test_an_unknown_name_is_still_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'cache_everything'"):
        affidavit.cache_everything  # noqa: B018
