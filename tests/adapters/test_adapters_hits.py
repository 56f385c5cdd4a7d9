"""What datasets and joblib serve although it has changed is told as different; what they build anew is no hit.

A row is a generator: it yields what is mapped on the first day, and, after the change, on the second. Each asserts
that the peer really serves the old result, so that a peer which mends its key makes the row fail.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import random
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import datasets as library
import joblib.memory
import pytest

from affidavit.adapters import joblib as memories
from affidavit.adapters.datasets import hits, loads
from affidavit.attach.moment import CacheHit
from affidavit.attach.session import Session
from affidavit.cache.canary import Sighting, examine
from affidavit.cache.canary.edited import edited

SCRIPTS = Path(hits.__file__).parents[2] / "demo/scripts"
SECONDS = 20.0
Days = Iterator[Any]


@dataclass
class World:
    """A folder with modules, rows on the disk, and what was fired."""

    folder: Path
    fired: list[CacheHit] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def shielded(self, call: Callable[..., None]) -> Callable[..., None]:
        return call

    def fire(self, moment: Any) -> None:
        self.fired.append(moment)

    def module(self, name: str, source: str, *, installed: bool = False) -> types.ModuleType:
        """Write a module, or write it anew, and return it freshly imported; the one that was loaded stays the same."""
        place = self.folder / "site-packages" if installed else self.folder
        place.mkdir(exist_ok=True)
        (place / f"{name}.py").write_text(source)
        if str(place) not in sys.path:
            sys.path.insert(0, str(place))
        importlib.invalidate_caches()
        self.names.append(name)
        return importlib.reload(sys.modules[name]) if name in sys.modules else importlib.import_module(name)

    def main(self, source: str, **given: Any) -> dict[str, Any]:
        """Return the globals of a script that was run."""
        names = {"__name__": "__main__", **given}
        exec(source, names)
        return names

    def rows(self) -> Any:
        place = self.folder / "rows"
        if not place.exists():
            made = library.Dataset.from_list([{"x": number} for number in range(30)])
            made.save_to_disk(place)
        return library.load_from_disk(place)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    made = World(tmp_path)
    for kind, names in (
        (library.Dataset, ("map", "from_file")),
        (library.DatasetBuilder, ("download_and_prepare",)),
        (joblib.memory.MemorizedFunc, ("_load_item", "_cached_call")),
    ):
        for name in names:
            monkeypatch.setattr(kind, name, kind.__dict__[name])
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    session = cast(Session, made)
    hits.bind(cast(types.ModuleType, library.arrow_dataset), session)
    loads.bind(cast(types.ModuleType, library.builder), session)
    memories.bind(joblib.memory, session)
    library.disable_progress_bars()
    yield made
    for name in made.names:
        sys.modules.pop(name, None)


def looked(world: World) -> Sighting:
    (hit,) = world.fired
    return examine(hit, seconds=SECONDS)


# --- what datasets serves though it has changed -------------------------------------------------------------------


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


# --- what datasets builds anew ------------------------------------------------------------------------------------


def a_global_of_a_script(world: World) -> Days:
    script = "def encode(row):\n    return {'y': row['x'] * K}\n"
    yield world.main(script, K=1)["encode"]
    yield world.main(script, K=2)["encode"]


def a_value_of_a_closure(world: World) -> Days:
    script = "def make(k):\n    def encode(row):\n        return {'y': row['x'] * k}\n    return encode\n"
    yield world.main(script)["make"](1)
    yield world.main(script)["make"](2)


def a_default_of_a_script(world: World) -> Days:
    yield world.main("def encode(row, k=1):\n    return {'y': row['x'] * k}\n")["encode"]
    yield world.main("def encode(row, k=2):\n    return {'y': row['x'] * k}\n")["encode"]


def an_argument_of_a_partial(world: World) -> Days:
    function = world.main("def encode(row, k):\n    return {'y': row['x'] * k}\n")["encode"]
    yield functools.partial(function, k=1)
    yield functools.partial(function, k=2)


def a_module_in_a_plain_folder(world: World) -> Days:
    script = "def encode(row):\n    return {'y': row['x'] * helper.K}\n"
    helper = world.module("helper", "K = 1\n")
    yield world.main(script, helper=helper)["encode"]
    helper.K = 2  # type: ignore[attr-defined]
    yield world.main(script, helper=helper)["encode"]


def a_class_of_a_script(world: World) -> Days:
    for k in (1, 2):
        script = f"class Policy:\n    K = {k}\ndef encode(row):\n    return {{'y': row['x'] * Policy.K}}\n"
        yield world.main(script)["encode"]


def an_attribute_of_an_argument(world: World) -> Days:
    module = world.module("classes", "class Tokens:\n    pad = 0\n")
    tokens = module.Tokens()
    for tokens.pad in (1, 2):
        yield world.main("def encode(row):\n    return {'y': row['x'] + tokens.pad}\n", tokens=tokens)["encode"]


SEEN = (
    a_global_of_a_script,
    a_value_of_a_closure,
    a_default_of_a_script,
    an_argument_of_a_partial,
    a_module_in_a_plain_folder,
    a_class_of_a_script,
    an_attribute_of_an_argument,
)


@pytest.mark.parametrize("row", SEEN, ids=lambda row: row.__name__)
def test_what_is_built_anew_is_no_hit(world: World, row: Callable[[World], Days]) -> None:
    days = row(world)
    world.rows().map(next(days))
    function = next(days)
    again = world.rows().map(function)
    assert again.to_list() == [{**one, **function(one)} for one in world.rows()]
    assert world.fired == []


@pytest.mark.parametrize("attribute", ["model_max_length", "chat_template", "tokens", "post_processor"])
def test_a_tokenizer_that_is_changed_in_place_is_seen_by_datasets(world: World, attribute: str) -> None:
    import tiny
    from tokenizers.processors import TemplateProcessing

    tokenizer = tiny.build_tokenizer()
    script = "def encode(row):\n    return {'y': tokenizer('the road', truncation=True)['input_ids']}\n"
    world.rows().map(world.main(script, tokenizer=tokenizer)["encode"])
    if attribute == "tokens":
        tokenizer.add_tokens(["theroad"])
    elif attribute == "post_processor":
        name, number = tokenizer.eos_token, tokenizer.eos_token_id
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(f"$A {name}", None, [(name, number)])
    else:
        setattr(tokenizer, attribute, 1 if attribute == "model_max_length" else "{{ messages }}")
    world.rows().map(world.main(script, tokenizer=tokenizer)["encode"])
    assert world.fired == []


def test_a_method_of_the_tokenizers_class_is_not_seen_by_datasets(world: World, monkeypatch: Any) -> None:
    import tiny

    tokenizer = tiny.build_tokenizer()
    script = "def encode(row):\n    return {'y': tokenizer.encode('the road')}\n"
    world.rows().map(world.main(script, tokenizer=tokenizer)["encode"])
    monkeypatch.setattr(type(tokenizer), "encode", lambda self, text: [1, 2, 3])
    world.rows().map(world.main(script, tokenizer=tokenizer)["encode"])
    assert looked(world).outcome == "different"


# --- files that are loaded ----------------------------------------------------------------------------------------


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


# --- joblib -------------------------------------------------------------------------------------------------------


class Memory:
    """One folder, and functions that are memorised as a new process would memorise them."""

    def __init__(self, world: World) -> None:
        self._folder = world.folder / "memory"

    def __call__(self, function: Any, *args: Any, ignore: Any = None) -> Any:
        joblib.memory._FUNCTION_HASHES.clear()
        return joblib.Memory(self._folder, verbose=0).cache(function, ignore=ignore)(*args)


def memory_global(world: World, memory: Memory) -> Days:
    module = world.module("remembered", "K = 1\ndef f(x):\n    return x * K\n")
    yield memory(module.f, 5)
    module.K = 2  # type: ignore[attr-defined]
    yield memory(module.f, 5)


def memory_file(world: World, memory: Memory) -> Days:
    file = world.folder / "k.txt"
    module = world.module(
        "remembered", f"def f(x):\n    with open({str(file)!r}) as file:\n        return file.read()\n"
    )
    for text in ("1", "2"):
        file.write_text(text)
        yield memory(module.f, 5)


def memory_environment(world: World, memory: Memory) -> Days:
    module = world.module("remembered", "import os\ndef f(x):\n    return os.environ['K']\n")
    for value in ("1", "2"):
        os.environ["K"] = value
        yield memory(module.f, 5)


def memory_callee(world: World, memory: Memory) -> Days:
    for lift in ("x", "x + 1"):
        source = f"def lift(x):\n    return {lift}\ndef f(x):\n    return lift(x)\n"
        yield memory(world.module("remembered", source).f, 5)


def memory_closure(world: World, memory: Memory) -> Days:
    module = world.module("remembered", "def make(k):\n    def f(x):\n        return x * k\n    return f\n")
    for k in (1, 2):
        yield memory(module.make(k), 5)


def memory_class(world: World, memory: Memory) -> Days:
    source = "class Policy:\n    K = 1\ndef f(policy):\n    return policy.K\n"
    module = world.module("remembered", source)
    yield memory(module.f, module.Policy())
    module.Policy.K = 2
    yield memory(module.f, module.Policy())


def memory_ignored(world: World, memory: Memory) -> Days:
    module = world.module("remembered", "def f(x, k):\n    return x * k\n")
    for k in (1, 2):
        yield memory(module.f, 5, k, ignore=["k"])


def memory_path(world: World, memory: Memory) -> Days:
    file = world.folder / "data.txt"
    module = world.module("remembered", "def f(path):\n    with open(path) as file:\n        return file.read()\n")
    for text in ("1", "2"):
        file.write_text(text)
        yield memory(module.f, str(file))


MEMORY = (
    memory_global,
    memory_file,
    memory_environment,
    memory_callee,
    memory_closure,
    memory_class,
    memory_ignored,
    memory_path,
)


@pytest.mark.parametrize("row", MEMORY, ids=lambda row: row.__name__)
def test_a_stale_memory_is_different(world: World, row: Callable[[World, Memory], Days]) -> None:
    days = row(world, Memory(world))
    first = next(days)
    assert world.fired == []
    assert next(days) == first
    assert world.fired[0].cache == "joblib.Memory"
    assert looked(world).outcome == "different"
    assert world.fired[0].written > 0


@pytest.mark.filterwarnings("ignore::joblib.memory.JobLibCollisionWarning")
def test_a_memory_that_sees_the_change_is_no_hit(world: World) -> None:
    memory = Memory(world)
    for k in (1, 2):
        assert memory(world.module("remembered", f"def f(x, k={k}):\n    return x * k\n").f, 5) == 5 * k
    assert world.fired == []


def test_a_memory_that_is_asked_often_is_looked_at_seldom(world: World) -> None:
    module = world.module("remembered", "def f(x):\n    return [x, x]\n")
    function = joblib.Memory(world.folder / "memory", verbose=0).cache(module.f)
    for _ in range(101):
        function(3)
    assert len(world.fired) == 7
    assert examine(world.fired[0], seconds=SECONDS) == Sighting(outcome="same", examined=2)


# --- what has changed ---------------------------------------------------------------------------------------------


def test_the_file_that_was_edited_is_named(world: World) -> None:
    world.module("helper", "def lift(x):\n    return x\n")
    module = world.module("coding", "import helper\ndef encode(row):\n    return {'y': helper.lift(row['x'])}\n")
    for name in ("helper.py", "coding.py"):
        os.utime(world.folder / name, (1_000, 1_000))
    assert edited(module.encode, 2_000.0) == ()
    os.utime(world.folder / "helper.py", (3_000, 3_000))
    assert edited(functools.partial(module.encode), 2_000.0) == ("helper.py",)
