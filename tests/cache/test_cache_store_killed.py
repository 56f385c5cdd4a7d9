"""Whoever is killed, and wherever, leaves no half of an entry; whoever comes next goes on from what was finished.

Every operation on the store's files is a point at which a real process is killed before it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from affidavit.cache.encoding import encode as encode_module
from affidavit.cache.encoding import tell
from affidavit.cache.encoding.encode import encode
from affidavit.cache.encoding.work import Work
from affidavit.cache.store import Store, StoreError

datasets = pytest.importorskip("datasets")

ROWS = 120
BATCH = 10
SHARDS = 4
EVENTS = ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.listdir")
PRIVATE = ("unshare", "--mount", "--map-root-user")


def lengths(batch: dict[str, list[Any]]) -> dict[str, Any]:
    return {"ids": [[len(text)] * 3 for text in batch["text"]]}


TRUTH = {"ids": [[len(f"{number}" * 3)] * 3 for number in range(ROWS)]}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode_module, "SHARD_ROWS", ROWS // SHARDS)
    monkeypatch.setattr(encode_module, "LEAST_SHARDS", SHARDS)
    monkeypatch.setattr(tell, "_SAID", set())


@pytest.fixture(scope="module")
def rows() -> Any:
    return datasets.Dataset.from_dict({"text": [f"{number}" * 3 for number in range(ROWS)]})


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    begins: list[int] = []
    call = Work._called
    monkeypatch.setattr(Work, "_called", lambda work, at, to: begins.append(at) or call(work, at, to))
    return begins


def _encoded(rows: Any, store: Path, num_proc: int = 1) -> Any:
    return encode(rows, lengths, store=store, batch_size=BATCH, num_proc=num_proc, remove_columns="text")


def _forked(do: Callable[[], object]) -> tuple[int, Iterator[Any]]:
    """Do something in a child, and return its number and what it says."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reader)
            os.write(writer, json.dumps(do()).encode())
            os._exit(0)
        except BaseException as error:  # noqa: BLE001  it is said
            os.write(writer, json.dumps(repr(error)).encode())
            os._exit(1)
    os.close(writer)

    def said() -> Iterator[Any]:
        with os.fdopen(reader, "rb") as file:
            yield json.loads(file.read() or b"null")

    return child, said()


def _ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _killed_before(store: Path, operation: int) -> None:
    """Kill this process before its n-th operation on the files of a store."""
    here, left = os.getpid(), [operation]

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in EVENTS and os.getpid() == here and str(store) in str(args[0]):
            if not left[0]:
                os.kill(here, signal.SIGKILL)
            left[0] -= 1

    sys.addaudithook(hook)


def _is_clean(store: Path) -> bool:
    """Say whether nothing unfinished is left beside any shard."""
    return not [path for path in store.glob("?" * 64 + "/*") if ".part-" in path.name]


@pytest.mark.parametrize("num_proc", [1, 2])
def test_killed_before_each_operation(rows: Any, tmp_path: Path, called: list[int], num_proc: int) -> None:
    kept, operation, code = 0, 0, -signal.SIGKILL
    while code:
        store = tmp_path / str(operation)

        def build(store: Path = store, operation: int = operation) -> None:
            _killed_before(store, operation)
            _encoded(rows, store, num_proc)

        child, said = _forked(build)
        code = _ended(child)
        assert code in (0, -signal.SIGKILL), next(said)
        before = list(Store(store).entries())
        for entry in before:
            assert entry.rows == ROWS
            assert Store(store, check="always").damaged(entry) == ()
        finished = sorted(int(path.name[9:14]) for path in store.glob("*/finished-*.json"))
        called.clear()
        assert _encoded(rows, store)[:] == TRUTH, operation
        (after,) = Store(store).entries()
        assert not before or after == before[0]
        assert before or _is_clean(store)
        kept += bool(finished)
        again = {begin * SHARDS // ROWS for begin in called}
        assert again.isdisjoint(finished) or again & set(finished) == {0}, "at most the first batch, for the columns"
        operation += 5 if num_proc > 1 else 2
        assert operation < 400
    assert operation > 30
    assert kept > 5


def test_what_was_finished_is_not_built_again(rows: Any, tmp_path: Path, called: list[int]) -> None:
    def build() -> None:
        write = Work._write

        def killed(work: Work, writer: Any, begin: int, stop: int, masker: Any) -> None:
            if begin == ROWS - BATCH:
                os.kill(os.getpid(), signal.SIGKILL)
            write(work, writer, begin, stop, masker)

        Work._write = killed  # type: ignore[method-assign]
        _encoded(rows, tmp_path)

    child, _ = _forked(build)
    assert _ended(child) == -signal.SIGKILL
    assert not list(Store(tmp_path).entries())
    assert not _is_clean(tmp_path)
    called.clear()
    assert _encoded(rows, tmp_path)[:] == TRUTH
    assert min(called) == ROWS - ROWS // SHARDS, "only the last shard"
    assert _is_clean(tmp_path)


def test_a_worker_that_is_killed_is_said_and_its_finished_shards_stay(rows: Any, tmp_path: Path) -> None:
    def build() -> str:
        here, write = os.getpid(), Work._write

        def killed(work: Work, writer: Any, begin: int, stop: int, masker: Any) -> None:
            if begin == ROWS // SHARDS and os.getpid() != here:
                os.kill(os.getpid(), signal.SIGKILL)
            write(work, writer, begin, stop, masker)

        Work._write = killed  # type: ignore[method-assign]
        try:
            _encoded(rows, tmp_path, num_proc=2)
        except StoreError as error:
            return str(error)
        return "nothing"

    child, said = _forked(build)
    assert _ended(child) == 0
    assert "building processes: expected 2 that end by themselves, saw one killed by signal 9" in next(said)
    assert not list(Store(tmp_path).entries())
    assert _encoded(rows, tmp_path)[:] == TRUTH


@pytest.mark.parametrize("builders", [2, 8])
@pytest.mark.parametrize("has_locks", [True, False])
def test_builders_of_one_key_come_to_one_entry(
    rows: Any, tmp_path: Path, builders: int, has_locks: bool, monkeypatch: pytest.MonkeyPatch, called: list[int]
) -> None:
    gate, opened = os.pipe()

    def no_locks(number: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    def build() -> Any:
        if not has_locks:
            fcntl.flock = no_locks  # type: ignore[assignment]
        os.close(opened)
        os.read(gate, 1)
        called.clear()
        made = _encoded(rows, tmp_path)
        return [made[:] == TRUTH, made._fingerprint, called]

    children = [_forked(build) for _ in range(builders)]
    os.close(gate)
    os.close(opened)
    assert [_ended(child) for child, _ in children] == [0] * builders
    said = [next(one) for _, one in children]
    assert all(is_true for is_true, _, _ in said)
    assert len({fingerprint for _, fingerprint, _ in said}) == 1
    assert len(list(Store(tmp_path).entries())) == 1
    if has_locks:
        built = [begin for _, _, begins in said for begin in begins]
        assert sorted(built) == sorted([*range(0, ROWS, BATCH), 0]), "once, and the first batch for its columns"
        assert _is_clean(tmp_path)


def test_a_reader_during_a_build_sees_all_or_nothing(rows: Any, tmp_path: Path) -> None:
    def read() -> Any:
        store, looks, seen = Store(tmp_path, check="always"), 0, 0
        while not seen:
            looks += 1
            for entry in store.entries():
                assert entry.rows == ROWS
                assert store.damaged(entry) == ()
                seen += 1
        return looks

    reader, said = _forked(read)
    _encoded(rows, tmp_path)
    assert _ended(reader) == 0
    assert next(said) > 0


FULL = """
import sys
from pathlib import Path
import datasets
from affidavit.cache.encoding import encode as module
from affidavit.cache.store import Store, StoreError

module.SHARD_ROWS = 1000
place = Path(sys.argv[1])
rows = datasets.Dataset.from_dict({"number": list(range(20_000))})
def wide(batch):
    return {"wide": [[number] * 20 for number in batch["number"]]}
ballast = place / "ballast"
ballast.write_bytes(bytes(1 << 20))
try:
    module.encode(rows, wide, store=place / "store", batch_size=500)
except StoreError as error:
    print(str(error).replace(sys.argv[1], "PLACE"))
kept = sorted(path.name for path in place.glob("store/*/shard-*"))
print(0 < len(kept) < 20, list(Store(place / "store").entries()))
ballast.unlink()
made = module.encode(rows, wide, store=place / "store", batch_size=500)
print(len(made), made[19_999]["wide"][0], set(kept) <= {path.name for path in place.glob("store/*/shard-*")})
print([path.name for path in place.rglob("*.part-*")])
"""


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run([*PRIVATE, "mount", "-t", "tmpfs", "x", str(place)], capture_output=True).returncode:
        pytest.skip("mount needs root")
    script = tmp_path / "full.py"
    script.write_text(FULL)
    start = f'mount -t tmpfs -o size=3900k disk "{place}" && exec "$@"'
    ended = subprocess.run(
        [*PRIVATE, "sh", "-c", start, "sh", sys.executable, str(script), str(place)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_DATASETS_CACHE": str(tmp_path / "hf")},
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        "store PLACE/store: expected room for one more shard, saw No space left on device.",
        "No entry was made. Finished shards are kept, and the next run goes on from there. "
        "Make room, or name another store.",
        "Not affected: other entries.",
        "True []",
        "20000 19999 True",
        "[]",
    ]
