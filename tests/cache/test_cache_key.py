"""A key is whole or there is none; it is the same in every place and process; asking for it changes nothing."""

# ruff: noqa: PTH123  the builtin is what is looked for

from __future__ import annotations

import functools
import hashlib
import io
import logging
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pairs import make

from affidavit.cache.key import KeyRefusedError, preimage_of
from affidavit.cache.preimage import differ

LOGGER = logging.getLogger("keys")
LOCK = threading.Lock()
ROWS: Iterator[int] = iter(range(3))
OPENED = io.StringIO("x")
HASHED = hashlib.sha256(b"x")
TABLE = {"a": 1}


def plain(row: Any) -> Any:
    return row


def logs(row: Any) -> Any:
    with LOCK:
        LOGGER.info("a row")
    return row


def iterates(row: Any) -> Any:
    return next(ROWS), row


def reads_handle(row: Any) -> Any:
    return OPENED.read(), HASHED.hexdigest(), row


def evaluates(row: str) -> Any:
    return eval(row)


def opens(row: str) -> Any:
    with open(row) as file:
        return file.read()


def writes(row: str) -> Any:
    Path(row).write_text("x")
    return row


def connects(row: Any) -> Any:
    import socket

    return socket.create_connection(("127.0.0.1", 9), timeout=1)


def reads_all(row: Any) -> Any:
    return dict(os.environ)


def chooses(row: str) -> Any:
    return os.environ[row]


def tosses(row: Any) -> Any:
    return random.random()


def seeds(row: Any) -> Any:
    random.seed(5)
    return random.random()


def differs(row: Any) -> Any:
    return os.urandom(4).hex()


def raises(row: Any) -> Any:
    raise ValueError(row)


@functools.lru_cache
def remembered(path: str) -> str:
    return Path(path).read_text()


def remembers(row: str) -> str:
    return remembered(row)


def _refusal(function: Any, **keywords: Any) -> str:
    with pytest.raises(KeyRefusedError) as refused:
        preimage_of(function, **keywords)
    return str(refused.value)


REFUSED = [
    (iterates, {}, ["global test_cache_key.ROWS: ", "a builtins.range_iterator"]),
    (evaluates, {}, ["source test_cache_key.evaluates: ", "eval"]),
    (opens, {}, ["files: ", "no rows to see"]),
    (chooses, {}, ["environment: ", "names at run time"]),
    (tosses, {}, ["random: ", "draws from random"]),
    (tosses, {"rows": [1]}, ["random: ", "drew from a random state"]),
    (differs, {"rows": [1]}, ["result: ", "probe row 0 came out otherwise"]),
    (writes, {"rows": ["never.txt"]}, ["files: ", "never.txt"]),
    (connects, {"rows": [1]}, ["network: "]),
    (connects, {}, ["network: ", "reaches for socket"]),
    (reads_all, {"rows": [1]}, ["environment: ", "read every variable"]),
    (raises, {"rows": ["x"]}, ["rows: ", "raised", "ValueError"]),
    (plain, {"artifacts": ["gone.txt"]}, ["artifact gone.txt: ", "No such file"]),
    (plain, {"config": {"seed": object()}}, ["config seed"]),
    (plain, {"irrelevant": {"lr": "it is for the optimizer"}}, ["irrelevant lr: ", "no part of that name"]),
    (plain, {"config": {"lr": 1}, "irrelevant": {"lr": " "}}, ["irrelevant lr: ", "no reason"]),
]


@pytest.mark.parametrize(("function", "keywords", "says"), REFUSED, ids=lambda row: getattr(row, "__name__", None))
def test_what_cannot_be_computed_is_refused_by_name(
    function: Any, keywords: dict[str, Any], says: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if says == ["config seed"]:
        keywords = {"config": {"seed": threading.local()}}
    monkeypatch.chdir(tmp_path)
    said = _refusal(function, project=tmp_path, **keywords)
    assert said.startswith("cache key, ")
    assert [text for text in says if text not in said] == []
    assert list(tmp_path.iterdir()) == []


def test_all_refusals_are_said_at_once() -> None:
    said = _refusal(reads_handle, config={"a": threading.local()})
    assert "global test_cache_key.HASHED" in said
    assert "config a" in said


def test_a_logger_and_a_lock_mean_nothing() -> None:
    assert preimage_of(logs).of_kind("global")


def test_a_function_that_seeds_itself_has_a_key() -> None:
    assert preimage_of(seeds, rows=[1]).digest == preimage_of(seeds, rows=[1]).digest


def test_what_a_memory_hides_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "mask.txt"
    file.write_text("a")
    remembered(str(file))
    try:
        before = preimage_of(remembers, rows=[str(file)], project=tmp_path)
        file.write_text("ab")
        after = preimage_of(remembers, rows=[str(file)], project=tmp_path)
    finally:
        remembered.cache_clear()
    assert [change.says for change in differ(before, after)] == ["file mask.txt was 1 bytes, is 2 bytes"]


def test_a_file_that_was_not_there_counts_once_it_is(tmp_path: Path) -> None:
    def tries(row: str) -> str:
        try:
            with open(row) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    file = tmp_path / "mask.txt"
    before = preimage_of(tries, rows=[str(file)], project=tmp_path)
    file.write_text("a")
    after = preimage_of(tries, rows=[str(file)], project=tmp_path)
    assert [change.says for change in differ(before, after)] == ["file mask.txt was absent, is 1 bytes"]


def test_a_mapped_file_is_seen_though_native_code_opened_it(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    held: list[Any] = []

    def maps(row: str) -> int:
        held.append(pyarrow.memory_map(row))
        return int(held[-1].size())

    file = tmp_path / "rows.arrow"
    file.write_bytes(b"x" * 5000)
    found = preimage_of(
        maps, rows=[str(file)], project=tmp_path, irrelevant={f"{__name__}.{maps.__qualname__}.held": "a"}
    )
    assert [part.name for part in found.of_kind("file")] == ["rows.arrow"]


def test_a_wrapper_of_ours_is_not_there() -> None:
    space: dict[str, Any] = {"__name__": "affidavit.adapters.planted", "functools": __import__("functools")}
    exec("def watch(f):\n    @functools.wraps(f)\n    def call(*a):\n        return f(*a)\n    return call", space)
    watched = space["watch"](plain)
    assert preimage_of(lambda row: watched(row)).of_kind("closure") == preimage_of(lambda row: watched(row)).of_kind(
        "closure"
    )
    assert preimage_of(functools.partial(watched)).digest == preimage_of(functools.partial(plain)).digest


def test_our_own_code_counts_where_it_makes_the_rows_and_not_where_it_watches() -> None:
    from affidavit.cache.key import files
    from affidavit.fact import journal

    made = preimage_of(lambda row: files.digest_of_folder(row))
    watched = preimage_of(lambda row: journal.Journal)
    assert [part.name for part in made.of_kind("package")] == ["affidavit"]
    assert watched.of_kind("package") == ()


SCRIPT = """
import re, sys
from pathlib import Path
import enc
WORDS = {"alpha", "beta", "gamma", "delta"}
HERE = Path(__file__).parent
def function(row):
    class Inner:
        width: int = 1
    mask = (HERE / "mask.txt").read_text()
    return Inner.width, enc.encode(row), [w for w in WORDS], HERE, re.sub("a", mask, row["text"])
if __name__ == "__main__":
    from affidavit.cache.key import preimage_of
    chosen = function
    if len(sys.argv) > 1:
        import script
        chosen = script.function
    print(preimage_of(chosen, rows=[{"text": "abc"}], config={"mask": {"x", "y"}}, artifacts=["helper.py"]).digest)
"""


def test_the_key_is_the_same_in_every_process_and_place(tmp_path: Path) -> None:
    said = set()
    for place, seed, *rest in (("one", "0"), ("two/deep", "1"), ("one", "2", "imported")):
        folder = tmp_path / place
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)
        (folder / "script.py").write_text(SCRIPT)
        ended = subprocess.run(
            [sys.executable, "script.py", *rest], cwd=folder, env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        said.add(ended.stdout)
    assert len(said) == 1


def test_asking_for_a_key_changes_nothing(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    numpy.random.seed(3)
    state, arrays = random.getstate(), numpy.random.get_state()[1].tolist()
    environment, getter = dict(os.environ), type(os.environ).__getitem__
    modules = set(sys.modules)
    row = {"text": [1]}
    preimage_of(lambda each: each["text"].append(random.seed(1)), rows=[row], project=tmp_path)
    assert row == {"text": [1]}
    assert random.getstate() == state
    assert numpy.random.get_state()[1].tolist() == arrays
    assert (dict(os.environ), type(os.environ).__getitem__) == (environment, getter)
    assert {name for name in set(sys.modules) - modules if not name.startswith("affidavit")} <= {"fcntl", "resource"}
