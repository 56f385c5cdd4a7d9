"""A file or a generator that datasets loads from its cache is compared, row by row, with what it is today."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path

import datasets as library
import pytest
from twodays import World, looked


def _written(kind: str, file: Path, numbers: list[int]) -> None:
    if kind == "parquet":
        library.Dataset.from_list([{"x": number} for number in numbers]).to_parquet(file)
    elif kind == "json":
        file.write_text("".join(json.dumps({"x": number}) + "\n" for number in numbers))
    elif kind == "csv":
        file.write_text("x\n" + "".join(f"{number}\n" for number in numbers))
    else:
        file.write_text("".join(f"{number}\n" for number in numbers))
    os.utime(file, (1_700_000_000, 1_700_000_000))


@pytest.mark.parametrize("kind", ["json", "csv", "text", "parquet"])
@pytest.mark.parametrize(
    ("numbers", "outcome", "first", "count"),
    [
        (list(range(100, 900)), "same", (), 0),
        ([number + (number == 731) for number in range(100, 900)], "different", (631,), 1),
        (list(range(100, 898)), "different", (798, 799), 2),
        (list(range(100, 903)), "different", (800, 801, 802), 3),
    ],
)
def test_a_file_that_kept_its_time(
    world: World, kind: str, numbers: list[int], outcome: str, first: tuple[int, ...], count: int
) -> None:
    file, cache = world.folder / f"rows.{kind}", str(world.folder / "cache")
    _written(kind, file, list(range(100, 900)))
    load = functools.partial(library.load_dataset, kind, data_files=str(file), cache_dir=cache, split="train")
    loaded = load().to_list()
    assert world.fired == []
    _written(kind, file, numbers)
    assert load().to_list() == loaded
    sighting = looked(world)
    assert (sighting.outcome, sighting.first, sighting.different) == (outcome, first, count), sighting
    world.fired.clear()
    os.utime(file)
    assert len(load()) == len(numbers) and world.fired == []


def test_a_generator_whose_module_has_changed(world: World) -> None:
    module = world.module("coding", "K = 1\ndef rows():\n    for x in range(40):\n        yield {'x': x * K}\n")
    load = functools.partial(library.Dataset.from_generator, module.rows, cache_dir=str(world.folder / "cache"))
    load()
    module.K = 2  # type: ignore[attr-defined]
    assert load()["x"][3] == 3
    assert looked(world).outcome == "different"
