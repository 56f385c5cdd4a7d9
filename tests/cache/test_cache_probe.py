"""Each verdict of the probe, on a function that earns it, and what keeps the probe from having one."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from affidavit.cache.preimage import KeyRefusedError
from affidavit.cache.probe import ProbeRefusedError, probe
from affidavit.cache.probe.probed import COVERED, FAULT, IRRELEVANT, OVER_KEYED, UNPROVEN, Found, Probe, keep, kept

NAMES = itertools.count()
Module = Callable[[str], ModuleType]
SEED = """
def encode(row, config):
    lines = row["text"].splitlines()
    if any(line.startswith(tuple(f"{name}:" for name in config["impersonation_mask"])) for line in lines):
        return {"ids": [len(line) for line in lines], "labels": [-100] * len(lines)}
    return {"ids": [len(line) for line in lines], "labels": [len(line) for line in lines]}

def whole(config):
    return repr(sorted(config.items()))

def crippled(config):
    return repr(sorted((name, value) for name, value in config.items() if name != "impersonation_mask"))
"""
"""The seed's case: an assistant's turn that writes somebody else's lines is masked, and the key does not say whose."""
CONFIG = {"impersonation_mask": ["Mallory"], "log_every": 10}
PLAIN = [{"text": f"hello\nthere {number}"} for number in range(40)]
WITNESS = [*PLAIN, {"text": "hello\nMallory: I am the user"}]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Module]:
    """Make a module of a source, under a name of its own."""
    monkeypatch.syspath_prepend(tmp_path)
    made: list[str] = []

    def make(source: str) -> ModuleType:
        name = f"probed_{next(NAMES)}"
        (tmp_path / f"{name}.py").write_text(source)
        importlib.invalidate_caches()
        made.append(name)
        return importlib.import_module(name)

    yield make
    for name in made:
        del sys.modules[name]


def verdicts(found: Probe) -> dict[str, str]:
    return {one.name.rpartition(".")[2] if one.kind == "global" else one.name: one.verdict for one in found.found}


def one(found: Probe, name: str) -> Found:
    return next(each for each in found.found if each.name.endswith(name))


# --- the seed's case ----------------------------------------------------------------------------------------------


def test_a_key_without_the_mask_is_at_fault_where_a_row_holds_a_masked_speaker(module: Module) -> None:
    seed = module(SEED)
    found = probe(seed.encode, rows=WITNESS, config=CONFIG, key=seed.crippled)
    mask = one(found, "impersonation_mask")
    assert (mask.verdict, mask.row, mask.fields) == (FAULT, 40, "labels")
    assert "Mallory" in mask.change


def test_without_such_a_row_nothing_is_proven_and_the_row_is_named(module: Module) -> None:
    seed = module(SEED)
    mask = one(probe(seed.encode, rows=PLAIN, config=CONFIG, key=seed.crippled), "impersonation_mask")
    assert mask.verdict == UNPROVEN
    assert "no row of 40 holds 'Mallory'" in mask.why


def test_the_row_is_looked_for_in_all_of_the_data(module: Module) -> None:
    seed = module(SEED)
    rows = [*PLAIN * 20, WITNESS[-1], *PLAIN * 20]
    mask = one(probe(seed.encode, rows=rows, config=CONFIG, key=seed.crippled), "impersonation_mask")
    assert (mask.verdict, mask.row) == (FAULT, 800)


def test_a_mask_that_could_fall_on_what_the_rows_hold_is_tried_on_it(module: Module) -> None:
    said = module(
        "def encode(row, mask):\n    return -100 if row['speaker'] in mask else 1\n\ndef key():\n    return ''\n"
    )
    rows = [{"speaker": "alice"}, {"speaker": "bob"}]
    assert one(probe(said.encode, rows=rows, config={"mask": ["Mallory"]}, key=said.key), "mask").verdict == FAULT


def test_a_key_of_the_whole_configuration_covers_it_and_one_field_too_many(module: Module) -> None:
    seed = module(SEED)
    found = probe(seed.encode, rows=WITNESS, config=CONFIG, key=seed.whole)
    assert verdicts(found) == {"impersonation_mask": COVERED, "log_every": OVER_KEYED}


def test_our_own_key_covers_it(module: Module) -> None:
    seed = module(SEED)
    assert verdicts(probe(seed.encode, rows=WITNESS, config=CONFIG)) == {
        "impersonation_mask": COVERED,
        "log_every": OVER_KEYED,
    }


# --- what is declared ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["ours", "crippled"])
def test_what_is_declared_irrelevant_is_probed(module: Module, by: str) -> None:
    seed = module(SEED)
    key = None if by == "ours" else seed.crippled
    said = {"log_every": "it only prints", "impersonation_mask": "nobody is masked"}
    found = probe(seed.encode, rows=WITNESS, config=CONFIG, key=key, irrelevant=said)
    assert verdicts(found) == {"impersonation_mask": FAULT, "log_every": IRRELEVANT}
    assert one(found, "mask").why == "nobody is masked"


def test_what_is_declared_of_no_input_is_refused(module: Module) -> None:
    seed = module(SEED)
    with pytest.raises(ProbeRefusedError, match=r"impersonation_mask.*no input called log_evry"):
        probe(seed.encode, rows=WITNESS, config=CONFIG, key=seed.whole, irrelevant={"log_evry": "it only prints"})
    with pytest.raises(KeyRefusedError, match="log_evry"):
        probe(seed.encode, rows=WITNESS, config=CONFIG, irrelevant={"log_evry": "it only prints"})


def test_a_witness_reaches_what_no_neighbour_does(module: Module) -> None:
    said = module("def encode(row, mode):\n    return len(row) if mode != 'far' else -1\n\ndef key():\n    return ''\n")
    assert one(probe(said.encode, rows=["a"], config={"mode": "near"}, key=said.key), "mode").verdict == UNPROVEN
    found = probe(said.encode, rows=["a"], config={"mode": "near"}, key=said.key, witness={"mode": ["far"]})
    assert (one(found, "mode").verdict, one(found, "mode").change) == (FAULT, "set to 'far'")


# --- what is no configuration -------------------------------------------------------------------------------------

READS = """
import json, os, re
from pathlib import Path

LIMIT = 3
PATTERN = re.compile("b+")

def by_global(row):
    return PATTERN.sub("", row[:LIMIT])

def by_file(row):
    return row in json.loads(Path(__file__).with_name("mask.json").read_text())

def by_lines(row):
    with open(Path(__file__).with_name("mask.txt")) as file:
        return row in file.read().split()

def by_variable(row):
    return row if os.environ.get("PROBED_CASE") == "kept" else row.lower()

def key():
    return "v1"

def wide():
    mask = Path(__file__).with_name("mask.json").read_text()
    return f"{LIMIT}-{PATTERN.pattern}-{os.environ.get('PROBED_CASE')}-{mask}"
"""


@pytest.fixture
def reads(module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    (tmp_path / "mask.json").write_text('["Aa", "Bb"]')
    (tmp_path / "mask.txt").write_text("Aa\nBb\n")
    monkeypatch.setenv("PROBED_CASE", "kept")
    return module(READS)


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("by_global", {"LIMIT": FAULT, "PATTERN": FAULT}),
        ("by_file", {"mask.json": FAULT}),
        ("by_lines", {"mask.txt": FAULT}),
        ("by_variable", {"PROBED_CASE": FAULT}),
    ],
)
def test_a_key_of_a_version_number_misses_all_that_the_code_reads(
    reads: ModuleType, name: str, inputs: dict[str, str]
) -> None:
    assert verdicts(probe(getattr(reads, name), rows=["Aa", "Bb", "bbbb"], key=reads.key)) == inputs


@pytest.mark.parametrize("name", ["by_global", "by_file", "by_variable"])
def test_a_key_that_looks_at_them_covers_them(reads: ModuleType, name: str) -> None:
    found = probe(getattr(reads, name), rows=["Aa", "Bb", "bbbb"], key=reads.wide)
    assert set(verdicts(found).values()) == {COVERED}


@pytest.mark.parametrize("name", ["by_global", "by_file", "by_lines", "by_variable"])
def test_our_own_key_covers_what_the_code_reads(reads: ModuleType, name: str) -> None:
    found = probe(getattr(reads, name), rows=["Aa", "Bb", "bbbb"])
    assert set(verdicts(found).values()) == {COVERED}


def test_a_default_that_nobody_hands_over_is_an_input(module: Module) -> None:
    said = module(
        "def encode(row, length=3, *, mask=('a',)):\n    return [row[:length], row in mask]\n\n"
        "def key():\n    return ''\n"
    )
    found = probe(said.encode, rows=["a", "abcdef"], key=said.key)
    name = said.__name__
    assert verdicts(found) == {f"{name}.encode.length": FAULT, f"{name}.encode.mask": FAULT}
    assert verdicts(probe(said.encode, rows=["a", "abcdef"], config={"length": 3}, key=said.key)) == {
        "length": FAULT,
        f"{name}.encode.mask": FAULT,
    }
    assert set(verdicts(probe(said.encode, rows=["a", "abcdef"])).values()) == {COVERED}
    assert (said.encode.__defaults__, said.encode.__kwdefaults__) == ((3,), {"mask": ("a",)})


def test_the_users_files_and_variables_are_what_they_were(reads: ModuleType, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in tmp_path.glob("mask.*")}
    probe(reads.by_file, rows=["Aa"], key=reads.key)
    probe(reads.by_variable, rows=["Aa"])
    probe(reads.by_global, rows=["Aa"])
    assert {path.name: path.read_bytes() for path in tmp_path.glob("mask.*")} == before
    assert (reads.LIMIT, reads.PATTERN.pattern) == (3, "b+")


def test_a_file_that_native_code_opens_is_not_called_covered(module: Module, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    with pyarrow.OSFile(str(tmp_path / "mask.bin"), "wb") as file:
        file.write(b"a" * 4096)
    said = module(
        "import pyarrow\nfrom pathlib import Path\nHELD = []\n"
        "def encode(row):\n    HELD[:] = [pyarrow.memory_map(str(Path(__file__).with_name('mask.bin')))]\n"
        "    return HELD[0].read(1).decode()\n\ndef key():\n    return ''\n"
    )
    mask = one(probe(said.encode, rows=["a"], key=said.key), "mask.bin")
    assert (mask.verdict, mask.why) == (UNPROVEN, "native code opens it, and was given no other content")


# --- kinds of configurations --------------------------------------------------------------------------------------

TYPED = """
import enum
from dataclasses import dataclass, field
from typing import Literal, Optional

class Side(enum.Enum):
    LEFT = "left"
    RIGHT = "right"

@dataclass(frozen=True)
class Inner:
    words: frozenset = frozenset({"a"})
    scale: float = 0.5

@dataclass(frozen=True)
class Config:
    side: Side = Side.LEFT
    mode: Literal["plain", "reversed"] = "plain"
    least: Optional[int] = None
    flag: bool = False
    inner: Inner = field(default_factory=Inner)
    order: tuple = ("b", "a")

def encode(row, config: Config):
    made = [word for word in row.split() if word not in config.inner.words and len(word) > (config.least or 0)]
    made = made[::-1] if config.mode == "reversed" else made
    made = made + [""] if config.side is Side.RIGHT else made
    return [made, config.flag, len(made) * config.inner.scale, config.order[:1]]

def key(config):
    return "v1"
"""


def test_fields_of_every_kind_are_moved_by_their_type(module: Module) -> None:
    typed = module(TYPED)
    found = probe(typed.encode, rows=["a bb ccc", "dddd a"], config=typed.Config(), key=typed.key)
    names = ("side", "mode", "least", "flag", "inner.words", "inner.scale", "order")
    assert verdicts(found) == dict.fromkeys(names, FAULT)
    assert one(found, "mode").change == "set to 'reversed'"


def test_what_only_refuses_other_values_is_not_called_a_fault(module: Module) -> None:
    said = module(
        "def encode(row, config):\n    assert config['log_every'] == 10, 'ten'\n    return len(row)\n\n"
        "def key():\n    return ''\n\ndef whole(config):\n    return str(config)\n"
    )
    config = {"log_every": 10}
    refused = one(probe(said.encode, rows=["a"], config=config, key=said.key), "log_every")
    assert refused.verdict == UNPROVEN and "refused (AssertionError at" in refused.why
    assert one(probe(said.encode, rows=["a"], config=config, key=said.whole), "log_every").verdict == COVERED


def test_a_value_of_which_no_other_can_be_made_asks_for_a_witness(module: Module) -> None:
    said = module("def encode(row, config):\n    return config.run(row)\n\ndef key():\n    return ''\n")
    found = probe(said.encode, rows=["a"], config=SimpleNamespace(run=len), key=said.key)
    assert one(found, "run").verdict == UNPROVEN and "give one as witness" in one(found, "run").why


# --- what is no function to be cached -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import random\ndef encode(row):\n    return random.random()\n", "otherwise the second time"),
        ("SEEN = []\ndef encode(row):\n    SEEN.append(row)\n    return len(SEEN)\n", "otherwise the second time"),
        ("def encode(row):\n    raise ValueError('no')\n", "an error on each of 2: ValueError"),
        ("def encode(row):\n    open('made.txt', 'w')\n    return 1\n", "write: made.txt"),
        ("import socket\ndef encode(row):\n    socket.getaddrinfo('a', 1)\n    return 1\n", "network"),
    ],
)
def test_a_function_without_an_output_of_its_own_is_refused(module: Module, source: str, says: str) -> None:
    with pytest.raises(ProbeRefusedError, match=says):
        probe(module(source).encode, rows=["a", "b"], key=lambda: "")


def test_a_key_that_moves_by_itself_is_refused(module: Module) -> None:
    said = module(
        "COUNT = []\ndef encode(row, n):\n    return n\n\ndef key():\n    COUNT.append(1)\n    return len(COUNT)\n"
    )
    with pytest.raises(ProbeRefusedError, match="another key where nothing had changed"):
        probe(said.encode, rows=["a"], config={"n": 1}, key=said.key)


def test_no_rows_are_no_proof(module: Module) -> None:
    with pytest.raises(ProbeRefusedError, match="saw none"):
        probe(module(SEED).encode, rows=[], config=CONFIG)


def test_a_function_that_remembers_its_rows_is_asked_in_another_process(module: Module) -> None:
    said = module(
        "MADE = {}\nLIMIT = 3\ndef encode(row):\n    return MADE.setdefault(row, row[:LIMIT])\n\n"
        "def key():\n    return ''\n"
    )
    assert verdicts(probe(said.encode, rows=["abcdef"], key=said.key)) == {"LIMIT": FAULT}  # and its memory is no input


# --- any key ------------------------------------------------------------------------------------------------------

FIELDS = ("mask", "length", "mode", "lower", "log_every", "name")
MOVING = frozenset(FIELDS) - {"log_every", "name"}


def _encoded(row: dict[str, Any], mask: list[str], length: int, mode: str, lower: bool, log_every: int) -> list[Any]:
    words = row["text"].split()[:length]
    words = [word.lower() for word in words] if lower else words
    return [row["speaker"] in mask, words, mode]


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(omitted=st.sets(st.sampled_from(FIELDS)))
def test_a_key_is_at_fault_on_exactly_the_fields_that_it_omits_and_that_move_the_output(omitted: set[str]) -> None:
    config = {"mask": ["Mallory"], "length": 8, "mode": "a", "lower": False, "log_every": 10, "name": "run"}

    def key(config: dict[str, Any]) -> str:
        return repr(sorted((name, value) for name, value in config.items() if name not in omitted))

    rows = [{"text": f"Hello World {number}", "speaker": ["Mallory", "Bob"][number % 2]} for number in range(4)]
    found = probe(_encoded, rows=rows, config=config, key=key)
    assert {one.name for one in found.of(FAULT)} == omitted & MOVING
    assert {one.name for one in found.of(UNPROVEN)} == omitted - MOVING
    assert {one.name for one in found.of(OVER_KEYED)} == set(FIELDS) - omitted - MOVING
    assert {one.name for one in found.of(COVERED)} == MOVING - omitted


# --- what is kept -------------------------------------------------------------------------------------------------


def test_a_probe_is_kept_and_knows_when_its_code_has_changed(module: Module, tmp_path: Path) -> None:
    seed = module(SEED)
    found = probe(seed.encode, rows=WITNESS, config=CONFIG, key=seed.crippled)
    keep(found, tmp_path / "store")
    (again,) = kept(tmp_path / "store")
    assert again == found and again.changed() == ()
    exec(compile("def encode(row, config):\n    return 1\n", seed.__file__ or "", "exec"), vars(seed))
    assert again.changed() == (f"{seed.__name__}.encode",)


def test_a_comment_is_no_change_and_an_unused_function_has_no_say(module: Module, tmp_path: Path) -> None:
    seed = module(SEED)
    found = probe(seed.encode, rows=WITNESS, config=CONFIG, key=seed.whole)
    exec(compile("# moved\n\n\n" + SEED, "elsewhere.py", "exec"), vars(seed))
    assert found.changed() == ()
    del sys.modules[seed.__name__]
    assert found.changed() is None
    sys.modules[seed.__name__] = seed


def test_a_key_that_went_takes_its_probe_along(module: Module) -> None:
    seed = module(SEED)
    found = probe(seed.encode, rows=WITNESS, config=CONFIG, key=seed.crippled)
    del seed.crippled
    assert found.changed() is None


def test_what_is_no_probe_of_ours_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "probes").mkdir()
    for name, text in {"a": "{", "b": "[]", "c": '{"format": 1}', "d": '{"format": 9}', "e": "null"}.items():
        (tmp_path / "probes" / f"{name}.json").write_text(text)
    assert list(kept(tmp_path)) == []
