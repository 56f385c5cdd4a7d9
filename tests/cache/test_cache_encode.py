"""``encode`` gives what ``Dataset.map`` gives, once, and says what it was built with ever after."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from offspring import children

from affidavit.attach.moment import CacheHit
from affidavit.cache.encoding import encode as encode_module
from affidavit.cache.encoding import tell
from affidavit.cache.encoding.encode import encode
from affidavit.cache.encoding.tell import CacheWarning
from affidavit.cache.encoding.work import Work
from affidavit.cache.store import Store

datasets = pytest.importorskip("datasets")

OFFSET = 1


def numbers(batch: dict[str, list[Any]]) -> dict[str, Any]:
    return {"input_ids": [[ord(letter) + OFFSET for letter in text] for text in batch["text"]]}


def halves(batch: dict[str, list[Any]]) -> dict[str, Any]:
    return {"half": [half for text in batch["text"] for half in (text[::2], text[1::2])]}


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(tell, "_SAID", set())
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


@pytest.fixture
def rows() -> Any:
    return datasets.Dataset.from_dict(
        {"text": [f"row {number}" * (number % 5) for number in range(500)], "kind": [n % 3 for n in range(500)]}
    ).cast_column("kind", datasets.ClassLabel(names=["a", "b", "c"]))


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each batch had with which a function was called in this process."""
    lengths: list[int] = []
    call = Work._called
    monkeypatch.setattr(Work, "_called", lambda work, at, to: lengths.append(to - at) or call(work, at, to))
    return lengths


@pytest.fixture
def hits(monkeypatch: pytest.MonkeyPatch) -> list[CacheHit]:
    heard: list[CacheHit] = []
    monkeypatch.setattr(tell, "fire", heard.append)
    return heard


def _small_shards(monkeypatch: pytest.MonkeyPatch, rows: int = 100) -> None:
    monkeypatch.setattr(encode_module, "SHARD_ROWS", rows)


@pytest.mark.parametrize("num_proc", [1, 2])
@pytest.mark.parametrize("remove", [None, ["text"], ["text", "kind"]])
def test_the_columns_are_those_of_map(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_proc: int, remove: Any
) -> None:
    _small_shards(monkeypatch)
    settings = {"batched": True, "batch_size": 50, "remove_columns": remove}
    ours = encode(rows, numbers, store=tmp_path, num_proc=num_proc, **settings)
    theirs = rows.map(numbers, **settings)
    assert ours.features == theirs.features
    assert ours.column_names == theirs.column_names
    assert ours.data.table.equals(theirs.data.table)
    assert ours[:] == theirs[:]
    assert len(list(tmp_path.glob("*/shard-*"))) == 5


def test_rows_by_one_rows_that_grow_and_columns_that_are_said(rows: Any, tmp_path: Path) -> None:
    one = encode(rows, _one, store=tmp_path, batched=False)
    assert one[:] == rows.map(_one)[:]
    grown = encode(rows, halves, store=tmp_path, remove_columns=rows.column_names)
    assert grown[:] == rows.map(halves, batched=True, remove_columns=rows.column_names)[:]
    features = datasets.Features({"input_ids": datasets.List(datasets.Value("int16"))})
    said = encode(rows, numbers, store=tmp_path, features=features, remove_columns=rows.column_names)
    assert said.features == features


def _one(row: dict[str, Any]) -> dict[str, Any]:
    return {"long": len(row["text"])}


def test_keywords_and_a_format_are_those_of_map(rows: Any, tmp_path: Path) -> None:
    formatted = rows.with_format("numpy")
    ours = encode(formatted, _scaled, store=tmp_path, fn_kwargs={"by": 3})
    theirs = formatted.map(_scaled, batched=True, fn_kwargs={"by": 3})
    assert ours.format == theirs.format
    assert ours.with_format(None)[:] == theirs.with_format(None)[:]
    assert encode(formatted, _scaled, store=tmp_path, fn_kwargs={"by": 4})["scaled"][5] != ours["scaled"][5]


def _scaled(batch: dict[str, Any], by: int) -> dict[str, Any]:
    return {"scaled": batch["kind"] * by}


def test_a_hit_is_the_build_bit_for_bit_and_calls_nobody(
    rows: Any, tmp_path: Path, hits: list[CacheHit], called: list[int]
) -> None:
    built = encode(rows, numbers, store=tmp_path)
    files = {path: path.read_bytes() for path in tmp_path.glob("*/shard-*")}
    called.clear()
    again = encode(rows, numbers, store=tmp_path)
    assert called == []
    assert {path: path.read_bytes() for path in tmp_path.glob("*/shard-*")} == files
    assert again.data.table.equals(built.data.table)
    assert again._fingerprint == built._fingerprint
    assert [file["filename"] for file in again.cache_files] == [str(path) for path in files]
    (hit,) = hits
    assert (hit.cache, hit.rows, hit.function) == ("affidavit.cache", 500, numbers)


def test_a_hit_can_be_held_against_its_function(
    rows: Any, tmp_path: Path, hits: list[CacheHit], monkeypatch: pytest.MonkeyPatch
) -> None:
    _small_shards(monkeypatch)
    for _ in range(2):
        encode(rows, numbers, store=tmp_path, batch_size=50)
    (hit,) = hits
    batch = list(hit.batch(130))
    assert batch == list(range(100, 150))
    assert hit.stored(batch) == hit.recompute(batch)
    assert hit.stored([120])[0]["text"] == "row 120" * 0
    monkeypatch.setattr(f"{__name__}.OFFSET", 2)
    assert hit.stored(batch) != hit.recompute(batch)


def test_rows_that_grow_are_found_from_the_first_one_on(rows: Any, tmp_path: Path, hits: list[CacheHit]) -> None:
    for _ in range(2):
        encode(rows, halves, store=tmp_path, batch_size=50, remove_columns=rows.column_names)
    (hit,) = hits
    assert hit.in_order
    assert hit.rows == 1000
    assert hit.stored([0, 1, 999]) == hit.recompute([0, 1, 999])


def _keys(store: Path) -> set[str]:
    return {entry.key for entry in Store(store).entries()}


def test_whatever_moves_the_rows_moves_the_key(rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = tmp_path / "names.txt"
    artifact.write_text("a")
    store = tmp_path / "store"
    calls = [
        {},
        {"config": {"length": 5}},
        {"config": {"length": 6}},
        {"covers": {"names": ["a"]}},
        {"covers": {"names": artifact}},
        {"artifacts": [artifact]},
        {"batch_size": 7},
        {"remove_columns": "text"},
    ]
    for number, call in enumerate(calls, start=1):
        encode(rows, numbers, store=store, **call)
        assert len(_keys(store)) == number, call
    artifact.write_text("b")
    encode(rows, numbers, store=store, artifacts=[artifact])
    monkeypatch.setattr(f"{__name__}.OFFSET", 2)
    encode(rows, numbers, store=store)
    encode(rows.select(range(499)), numbers, store=store)
    encode(rows.select(range(498, -1, -1)), numbers, store=store)
    encode(rows.rename_column("kind", "sort"), numbers, store=store)
    assert len(_keys(store)) == len(calls) + 5


def test_what_does_not_move_the_rows_does_not_move_the_key(rows: Any, tmp_path: Path) -> None:
    store = tmp_path / "store"
    rows.save_to_disk(tmp_path / "one")
    rows.save_to_disk(tmp_path / "two", num_shards=3)
    for dataset in (rows, datasets.load_from_disk(tmp_path / "one"), datasets.load_from_disk(tmp_path / "two")):
        encode(dataset, numbers, store=store, num_proc=2)
        encode(dataset, numbers, store=store)
    assert len(_keys(store)) == 1


def test_rows_swapped_under_their_fingerprint_are_other_rows(rows: Any, tmp_path: Path) -> None:
    """hf-stack-spike §5: the fingerprint stays, and ``map`` serves the old rows."""
    rows.save_to_disk(tmp_path / "rows")
    before = datasets.load_from_disk(tmp_path / "rows")
    fingerprint = before._fingerprint
    first = encode(before, numbers, store=tmp_path / "store")
    other = rows.map(lambda row: {"text": row["text"] + "!"})
    other.save_to_disk(tmp_path / "other")
    del before
    for file in (tmp_path / "other").glob("*.arrow"):
        file.replace(tmp_path / "rows" / file.name)
    after = datasets.load_from_disk(tmp_path / "rows")
    assert after._fingerprint == fingerprint
    assert encode(after, numbers, store=tmp_path / "store")[:] != first[:]


def _draws(batch: dict[str, list[Any]]) -> dict[str, Any]:
    import random

    return {"drawn": [random.random() for _ in batch["text"]]}


def test_where_there_is_no_key_nothing_is_stored_and_it_is_said_once(rows: Any, tmp_path: Path) -> None:
    with pytest.warns(CacheWarning, match=r"_draws is not cached\. cache key, random"):
        first = encode(rows, _draws, store=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second = encode(rows, _draws, store=tmp_path)
    assert first["drawn"][:] != second["drawn"][:]
    assert first.column_names == ["text", "kind", "drawn"]
    assert _keys(tmp_path) == set()


def test_a_damaged_shard_is_set_aside_built_again_and_said(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, called: list[int]
) -> None:
    _small_shards(monkeypatch)
    built = encode(rows, numbers, store=tmp_path, batch_size=50)
    truth = built[:]
    del built
    shards = sorted(tmp_path.glob("*/shard-*"))
    whole = shards[3].read_bytes()
    spoilt = whole[:-200] + bytes([whole[-200] ^ 1]) + whole[-199:]
    shards[3].write_bytes(spoilt)
    called.clear()
    with pytest.warns(CacheWarning, match="a stored shard is damaged, set aside as .*shard-00003"):
        again = encode(rows, numbers, store=tmp_path, batch_size=50)
    assert again[:] == truth
    assert called == [50, 50], "only that shard"
    assert shards[3].read_bytes() == whole
    assert [path.read_bytes() for path in (tmp_path / "quarantine").glob("*shard*")] == [spoilt]


def test_an_error_of_the_function_is_its_own(rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _small_shards(monkeypatch)
    with pytest.raises(ZeroDivisionError):
        encode(rows, _divides, store=tmp_path, num_proc=2, batch_size=50)
    assert _keys(tmp_path) == set()


def test_a_file_that_the_function_may_not_read_is_not_a_full_store(rows: Any, tmp_path: Path) -> None:
    with pytest.raises(PermissionError, match="the function's own"):
        encode(rows, _forbidden, store=tmp_path)


def _forbidden(batch: dict[str, list[Any]]) -> dict[str, Any]:
    if any(text.startswith("row 123") for text in batch["text"]):
        raise PermissionError(13, "the function's own")
    return {"long": [len(text) for text in batch["text"]]}


def _divides(batch: dict[str, list[Any]]) -> dict[str, Any]:
    return {"inverse": [1 / (len(text) - 7 if "row 4" in text else 1) for text in batch["text"]]}


def test_a_function_that_returns_no_columns_is_refused(rows: Any, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="what the function returned: expected columns by name, saw list"):
        encode(rows, _lists, store=tmp_path)


def _lists(batch: dict[str, list[Any]]) -> Any:
    return list(batch["text"])


def test_no_rows_are_no_rows(rows: Any, tmp_path: Path) -> None:
    none = rows.select([])
    assert encode(none, numbers, store=tmp_path) is none


def test_the_store_stays_without_children(rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _small_shards(monkeypatch)
    before = children()
    encode(rows, numbers, store=tmp_path, batch_size=50, num_proc=4)
    assert children() == before
