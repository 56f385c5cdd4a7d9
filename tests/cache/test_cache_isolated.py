"""Whatever the work does, the run that asked for it is as it was, and what it must not do is refused and said."""

from __future__ import annotations

import io
import itertools
import logging
import mmap
import os
import random
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from offspring import children

from affidavit.cache.isolated import isolated


def test_what_is_returned_comes_back_and_nothing_else(tmp_path: Path) -> None:
    seen: list[int] = []
    random.seed(7)
    state, folder = random.getstate(), Path.cwd()

    def work() -> list[Any]:
        seen.append(1)
        random.random()
        os.chdir(tmp_path)
        os.environ["LEFT"] = "behind"
        print("nobody reads this")
        return [seen, 1.5, None]

    result = isolated(work, seconds=10)
    assert (result.value, result.ended, result.why) == ([[1], 1.5, None], "done", "")
    assert (seen, random.getstate(), Path.cwd(), os.environ.get("LEFT")) == ([], state, folder, None)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        print("said", flush=True)
        os.write(2, b"said")

    isolated(work, seconds=10)
    assert capfd.readouterr() == ("", "")


def _connect() -> None:
    socket.socket().connect(("127.0.0.1", 9))


def _swallow() -> str:
    try:
        socket.getaddrinfo("localhost", 80)
    except OSError:
        return "fallback"
    return "resolved"


@pytest.mark.parametrize(
    ("work", "why"),
    [
        (_connect, "network: socket.connect"),
        (_swallow, "network: socket.getaddrinfo"),
        (lambda: Path("new.txt").write_text("x"), "write: new.txt"),
        (lambda: os.open("new.txt", os.O_CREAT | os.O_WRONLY), "write: new.txt"),
        (lambda: Path("old.txt").unlink(), "write: old.txt"),
        (lambda: Path("old.txt").rename("new.txt"), "write: old.txt"),
        (lambda: Path("new").mkdir(), "write: new"),
        (lambda: subprocess.run(["true"], check=True), "process: subprocess.Popen"),
        (lambda: os.system("true"), "process: true"),
        (os.fork, "process: os.fork"),
        (lambda: os.kill(os.getppid(), signal.SIGTERM), "signal: os.kill"),
    ],
)
def test_what_would_outlive_it_is_refused(
    work: Callable[[], Any], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("old")
    result = isolated(work, seconds=10)
    assert (result.ended, result.why) == ("refused", why)
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]


def test_files_that_are_open_are_as_they_were(tmp_path: Path) -> None:
    log, masks, binary = tmp_path / "log.txt", tmp_path / "masks.txt", tmp_path / "all.bin"
    masks.write_text("one\ntwo\nthree\n")
    binary.write_bytes(bytes(range(256)) * 1000)
    with log.open("w") as appended, masks.open() as read, binary.open("rb", buffering=0) as raw:
        appended.write("before\n")
        assert read.readline() == "one\n" and raw.read(3) == b"\0\1\2"
        place = os.lseek(read.fileno(), 0, os.SEEK_CUR)

        def work() -> list[Any]:
            appended.write("in the child\n")
            appended.flush()
            read.seek(0)
            return [read.readline(), list(raw.read(2))]

        result = isolated(work, seconds=10)
        assert result.value == ["one\n", [3, 4]]
        assert os.lseek(read.fileno(), 0, os.SEEK_CUR) == place
        assert (read.readline(), raw.read(1)) == ("two\n", b"\3")
    assert log.read_text() == "before\n"


def test_a_pipe_keeps_what_is_in_it() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"for the run")
    assert isolated(lambda: len(os.read(reader, 64)), seconds=10).value == 0
    assert os.read(reader, 64) == b"for the run"
    os.close(reader)
    os.close(writer)


def test_what_was_said_before_the_limit_counts() -> None:
    def work() -> Iterator[int]:
        yield 1
        yield 2
        time.sleep(60)
        yield 3

    begun = time.monotonic()
    result = isolated(work, seconds=0.5)
    assert (result.value, result.ended) == (2, "time limit")
    assert time.monotonic() - begun < 10


def test_what_never_ends_and_hears_nothing_ends() -> None:
    def work() -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        for _ in itertools.count():
            pass

    before = children()
    assert isolated(work, seconds=0.5).ended == "time limit"
    assert children() == before


def test_an_error_is_told_without_its_words() -> None:
    result = isolated(lambda: {}["a secret"], seconds=10)
    assert result.ended == "raised" and "KeyError" in result.why and "secret" not in result.why


def test_a_stream_that_needs_no_descriptor_is_not_heard_either(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = mmap.mmap(-1, 1)

    class Cell(io.StringIO):
        def write(self, text: str) -> int:
            heard[0] = 1
            return len(text)

    cell = Cell()
    monkeypatch.setattr(sys, "stdout", cell)
    monkeypatch.setattr(sys, "stderr", cell)
    logger = logging.getLogger("affidavit.test")
    handler = logging.StreamHandler(cell)
    logger.addHandler(handler)

    def work() -> None:
        print("said")
        logger.error("said")

    assert isolated(work, seconds=10).ended == "done"
    logger.removeHandler(handler)
    assert heard[0] == 0
    print("said")
    assert heard[0] == 1


def test_a_device_is_refused() -> None:
    import torch

    before = torch.cuda._lazy_init
    result = isolated(lambda: torch.zeros(1, device="cuda").tolist(), seconds=20)
    assert (result.ended, result.why) == ("refused", "device")
    assert torch.cuda._lazy_init is before


@pytest.mark.parametrize("work", [lambda: sys.exit(3), lambda: os.abort(), lambda: os._exit(5)])
def test_whatever_way_it_ends_it_is_no_answer(work: Callable[[], Any]) -> None:
    result = isolated(work, seconds=10)
    assert result.value is None and result.ended in ("raised", "died")


def test_a_script_that_waits_for_its_children_is_not_told_of_ours() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGCHLD, lambda number, _: heard.append(number))
    try:
        result = isolated(lambda: 1, seconds=10)
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert (result.ended, heard) == ("not started", [])


def test_warnings_that_were_shown_stay_shown() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        filters = list(warnings.filters)
        for _ in range(2):
            warnings.warn("once", UserWarning, stacklevel=1)
            isolated(lambda: 1, seconds=10)
        assert warnings.filters == filters
    assert len(caught) == 1


def test_what_tokenizers_says_at_a_fork_is_not_heard(old_python: Path) -> None:
    script = """
import os, sys
sys.path.insert(0, sys.argv[1])
from tokenizers import Tokenizer, models, pre_tokenizers
from affidavit.cache.isolated import isolated
tokens = Tokenizer(models.WordLevel({"a": 0, "u": 1}, unk_token="u"))
tokens.pre_tokenizer = pre_tokenizers.Whitespace()
tokens.encode_batch(["a b"] * 5000)
if sys.argv[2] == "isolated":
    assert isolated(lambda: len(tokens.encode_batch(["a"] * 9)), seconds=20).value == 9
elif not (child := os.fork()):
    os._exit(0)
else:
    os.waitpid(child, 0)
print(os.environ.get("TOKENIZERS_PARALLELISM"))
"""
    source = str(Path(__file__).parents[2] / "src")
    environment = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    said = {}
    for how in ("isolated", "bare"):
        command = [str(old_python), "-c", script, source, how]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert ended.stdout == "None\n"
        said[how] = "just got forked" in ended.stderr
    assert said == {"isolated": False, "bare": True}
