"""What datasets serves although it has changed is told as different, and named by the file that was edited."""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Callable
from typing import Any

import datasets as library
import pytest
from twodays import SECONDS, Days, World, looked

from affidavit.attach.moment import CacheHit
from affidavit.cache.canary import Sighting, examine
from affidavit.cache.canary.edited import edited


def a_global_of_the_functions_module(world: World) -> Days:
    module = world.module("coding", "K = 1\ndef encode(row):\n    return {'y': row['x'] * K}\n")
    yield module.encode
    module.K = 2  # type: ignore[attr-defined]
    yield module.encode


def the_body_of_an_imported_function(world: World) -> Days:
    yield world.module("coding", "def encode(row):\n    return {'y': row['x']}\n").encode
    yield world.module("coding", "def encode(row):\n    return {'y': -row['x']}\n").encode


def the_body_of_a_helper_elsewhere(world: World) -> Days:
    world.module("helper", "def lift(x):\n    return x\n")
    module = world.module("coding", "import helper\ndef encode(row):\n    return {'y': helper.lift(row['x'])}\n")
    yield module.encode
    world.module("helper", "def lift(x):\n    return x + 1\n")
    yield module.encode


def a_set_in_a_helper_elsewhere(world: World) -> Days:
    helper = world.module("helper", "MASKED = {1}\n")
    module = world.module("coding", "import helper\ndef encode(row):\n    return {'y': row['x'] in helper.MASKED}\n")
    yield module.encode
    helper.MASKED.add(7)
    yield module.encode


def a_global_of_an_installed_module(world: World) -> Days:
    helper = world.module("installed", "K = 1\n", installed=True)
    yield world.main("def encode(row):\n    return {'y': row['x'] * helper.K}\n", helper=helper)["encode"]
    helper.K = 2  # type: ignore[attr-defined]
    yield world.main("def encode(row):\n    return {'y': row['x'] * helper.K}\n", helper=helper)["encode"]


def an_installed_package_of_another_version(world: World) -> Days:
    script = "def encode(row):\n    return {'y': package.lift(row['x'])}\n"
    package = world.module("package", "__version__ = '1'\ndef lift(x):\n    return x\n", installed=True)
    yield world.main(script, package=package)["encode"]
    package = world.module("package", "__version__ = '2'\ndef lift(x):\n    return x + 1\n", installed=True)
    yield world.main(script, package=package)["encode"]


def a_function_imported_by_name(world: World) -> Days:
    script = "from helper import lift\ndef encode(row):\n    return {'y': lift(row['x'])}\n"
    world.module("helper", "def lift(x):\n    return x\n")
    yield world.main(script)["encode"]
    world.module("helper", "def lift(x):\n    return x + 1\n")
    yield world.main(script)["encode"]


def an_import_inside_the_function(world: World) -> Days:
    script = "def encode(row):\n    import helper\n    return {'y': row['x'] * helper.K}\n"
    helper = world.module("helper", "K = 1\n")
    yield world.main(script)["encode"]
    helper.K = 2  # type: ignore[attr-defined]
    yield world.main(script)["encode"]


def a_file_that_it_reads(world: World) -> Days:
    file = world.folder / "mask.txt"
    script = "def encode(row):\n    with open(FILE) as file:\n        return {'y': row['x'] * int(file.read())}\n"
    file.write_text("1")
    yield world.main(script, FILE=str(file))["encode"]
    file.write_text("2")
    yield world.main(script, FILE=str(file))["encode"]


def a_variable_of_the_environment(world: World) -> Days:
    script = "import os\ndef encode(row):\n    return {'y': row['x'] * int(os.environ['K'])}\n"
    os.environ["K"] = "1"
    yield world.main(script)["encode"]
    os.environ["K"] = "2"
    yield world.main(script)["encode"]
    del os.environ["K"]


def an_attribute_of_an_imported_class(world: World) -> Days:
    module = world.module("classes", "class Policy:\n    K = 1\n")
    script = "def encode(row):\n    return {'y': row['x'] * Policy.K}\n"
    yield world.main(script, Policy=module.Policy)["encode"]
    module.Policy.K = 2
    yield world.main(script, Policy=module.Policy)["encode"]


def a_method_of_the_class_of_an_argument(world: World) -> Days:
    module = world.module("classes", "class Tokens:\n    def ids(self, x):\n        return [x]\n")
    script = "def encode(row):\n    return {'y': tokens.ids(row['x'])}\n"
    tokens = module.Tokens()
    yield world.main(script, tokens=tokens)["encode"]
    module.Tokens.ids = lambda self, x: [x, x]
    yield world.main(script, tokens=tokens)["encode"]


STALE = (
    a_global_of_the_functions_module,
    the_body_of_an_imported_function,
    the_body_of_a_helper_elsewhere,
    a_set_in_a_helper_elsewhere,
    a_global_of_an_installed_module,
    an_installed_package_of_another_version,
    a_function_imported_by_name,
    an_import_inside_the_function,
    a_file_that_it_reads,
    a_variable_of_the_environment,
    an_attribute_of_an_imported_class,
    a_method_of_the_class_of_an_argument,
)


@pytest.mark.parametrize("row", STALE, ids=lambda row: row.__name__)
def test_a_stale_map_is_different(world: World, row: Callable[[World], Days]) -> None:
    days = row(world)
    first = world.rows().map(next(days))
    assert world.fired == [], "nothing was there to be served"
    function = next(days)
    again = world.rows().map(function)
    assert again.to_list() == first.to_list() != [{**one, **function(one)} for one in world.rows()]
    assert world.fired[0].cache == "datasets.map"
    sighting = looked(world)
    assert (sighting.outcome, sighting.fields) == ("different", ("y",)), sighting
    list(days)


def test_a_stale_filter_is_different(world: World) -> None:
    module = world.module("coding", "K = 3\ndef keep(row):\n    return row['x'] % K == 0\n")
    first = world.rows().shuffle(seed=5).filter(module.keep)
    module.K = 5  # type: ignore[attr-defined]
    again = world.rows().shuffle(seed=5).filter(module.keep)
    assert again["x"][:] == first["x"][:] and any(x % 5 for x in again["x"])
    sighting = looked(world)
    assert (sighting.outcome, sighting.fields, sighting.examined) == ("different", ("kept",), 30)


@pytest.mark.parametrize("how", [{}, {"batched": True, "batch_size": 7}, {"num_proc": 2}, {"with_rank": True}])
@pytest.mark.parametrize("with_indices", [False, True])
def test_a_map_of_every_kind(world: World, how: dict[str, Any], with_indices: bool) -> None:
    module = world.module(
        "coding",
        "K = 0\n"
        "def encode(rows, *told):\n"
        "    more = K + sum(sum(one) if isinstance(one, list) else one or 0 for one in told)\n"
        "    x = rows['x']\n"
        "    return {'y': x + more if isinstance(x, int) else [one + more for one in x]}\n",
    )
    how = {**how, "with_indices": with_indices, "remove_columns": ["x"]}
    world.rows().map(module.encode, **how)
    assert world.fired == []
    world.rows().map(module.encode, **how)
    assert looked(world) == Sighting(outcome="same", examined=30)
    world.fired.clear()
    module.K = 9  # type: ignore[attr-defined]
    world.rows().map(module.encode, **how)
    assert looked(world).outcome == "different"


def test_batches_that_change_their_length_are_told_apart_from_the_first_row_on(world: World) -> None:
    module = world.module("coding", "K = 3\ndef pack(rows):\n    return {'y': [sum(rows['x']) + K, len(rows['x'])]}\n")
    how = {"batched": True, "batch_size": 7, "remove_columns": ["x"]}
    world.rows().map(module.pack, **how)
    world.rows().map(module.pack, **how)
    assert looked(world) == Sighting(outcome="same", examined=10)
    world.fired.clear()
    module.K = 4  # type: ignore[attr-defined]
    world.rows().map(module.pack, **how)
    sighting = looked(world)
    assert (sighting.outcome, sighting.first) == ("different", (0, 2, 4))


def test_rows_that_were_swapped_below_the_same_state(world: World) -> None:
    module = world.module("coding", "def encode(row):\n    return {'y': row['x']}\n")
    world.rows().map(module.encode)
    other = library.Dataset.from_list([{"x": 100 * number} for number in range(30)])
    other.save_to_disk(world.folder / "other")
    (arrow,), (swapped,) = ((world.folder / name).glob("data-*.arrow") for name in ("other", "rows"))
    arrow.replace(swapped)
    rows = world.rows()
    assert rows["x"][1] == 100 and rows.map(module.encode)["y"][1] == 1
    assert looked(world).outcome == "different"


def test_a_fingerprint_that_is_said_twice(world: World) -> None:
    module = world.module("coding", "def one(row):\n    return {'y': 1}\ndef two(row):\n    return {'y': 2}\n")
    world.rows().map(module.one, new_fingerprint="0123456789abcdef")
    assert world.rows().map(module.two, new_fingerprint="0123456789abcdef")["y"][0] == 1
    assert looked(world).outcome == "different"


def test_a_draw_from_the_runs_own_random_state_is_no_difference(world: World) -> None:
    module = world.module("coding", "import random\ndef encode(row):\n    return {'y': random.random()}\n")
    random.seed(1)
    first = world.rows().map(module.encode)
    random.seed(2)
    assert world.rows().map(module.encode).to_list() == first.to_list()
    assert looked(world).outcome == "not deterministic"


def test_what_a_function_remembers_is_no_difference(world: World) -> None:
    module = world.module(
        "coding",
        "IDS = {}\ndef encode(row):\n    return {'y': IDS.setdefault(row['x'] % 11, len(IDS))}\n",
    )
    rows = world.rows().select(range(29, -1, -1))
    rows.map(module.encode)
    module.IDS.clear()
    rows.map(module.encode)
    (hit,) = world.fired
    few = [3, 7, 8, 20, 21]
    odd = CacheHit(
        cache=hit.cache,
        entry=hit.entry,
        function=hit.function,
        rows=len(few),
        stored=lambda at: hit.stored([few[one] for one in at]),
        recompute=lambda at: hit.recompute([few[one] for one in at]),
    )
    assert examine(odd, seconds=SECONDS).outcome == "not deterministic"


def test_the_file_that_was_edited_is_named(world: World) -> None:
    world.module("helper", "def lift(x):\n    return x\n")
    module = world.module("coding", "import helper\ndef encode(row):\n    return {'y': helper.lift(row['x'])}\n")
    for name in ("helper.py", "coding.py"):
        os.utime(world.folder / name, (1_000, 1_000))
    assert edited(module.encode, 2_000.0) == ()
    os.utime(world.folder / "helper.py", (3_000, 3_000))
    assert edited(functools.partial(module.encode), 2_000.0) == ("helper.py",)
