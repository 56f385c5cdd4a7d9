"""A reading that is kept is the reading that was made; whatever it hangs on makes another."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from affidavit.lint.scripts import Reading, kept, read_scripts
from affidavit.lint.scripts import read as reader
from affidavit.lint.scripts.source import WATCHED

TEXT = (
    "import argparse\nfrom transformers import TrainingArguments, HfArgumentParser\nfrom common import KW\n"
    "p = argparse.ArgumentParser(allow_abbrev=False)\np.add_argument('--a', type=bool, choices=['x'])\n"
    "p.add_argument('--b')\nargs = p.parse_args()\nprint(args.a)\n"
    "t = TrainingArguments('out', optim_args={'x': {'y': 1}}, **KW, **open('z'))\nt.warmup_ratio = 1\n"
    "TrainingArguments()\n(h,) = HfArgumentParser((TrainingArguments,)).parse_json_file('a.json')\n"
)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = [tmp_path / "project" / name for name in ("train.py", "common.py", "broken.py")]
    found[0].parent.mkdir()
    for path, text in zip(found, (TEXT, "KW = {'seed': 1}\n", "from trl import (\n"), strict=True):
        path.write_text(text)
    return [*found, tmp_path / "project" / "absent.py"]


def _read(files: list[Path], store: Path | None, watched: frozenset[str] = WATCHED) -> Reading:
    return read_scripts(files, files[0].parent, watched, store=store)


def _same(one: Reading, other: Reading) -> bool:
    return replace(one, read_names=()) == replace(other, read_names=())


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One item for every time that files are really read."""
    made: list[None] = []
    true = reader._read

    def counted(*args: object) -> object:
        made.append(None)
        return true(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(reader, "_read", counted)
    return made


def test_what_is_kept_is_what_was_read(files: list[Path], tmp_path: Path, readings: list[None]) -> None:
    plain = _read(files, None)
    assert plain.requests and plain.fields and plain.unread and plain.parsers and plain.late
    for _ in range(2):
        told = _read(files, tmp_path / "store")
        assert _same(told, plain)
        for name in ("a", "warmup_ratio", "x", "b", "nobody"):
            assert (name in told.read_names) is (name in plain.read_names)
    assert len(readings) == 2


def _change(files: list[Path]) -> None:
    files[1].write_text("KW = {'seed': 2}\n")


def _rename(files: list[Path]) -> None:
    files[1] = files[1].rename(files[1].with_name("others.py"))


def _appear(files: list[Path]) -> None:
    files[3].write_text("x = 1\n")


@pytest.mark.parametrize("change", [_change, _rename, _appear])
def test_another_file_is_another_reading(
    files: list[Path], tmp_path: Path, readings: list[None], change: Callable[[list[Path]], None]
) -> None:
    _read(files, tmp_path)
    change(files)
    assert _same(_read(files, tmp_path), _read(files, None))
    assert len(readings) == 3


def test_a_project_that_was_moved_is_the_same_one(files: list[Path], tmp_path: Path, readings: list[None]) -> None:
    _read(files, tmp_path / "store")
    moved = files[0].parent.rename(tmp_path / "moved")
    told = _read([moved / path.name for path in files], tmp_path / "store")
    assert len(readings) == 1
    assert {one.path for one in told.requests} == {moved / "train.py"}


def test_who_watches_else_or_reads_otherwise_reads_anew(
    files: list[Path], tmp_path: Path, readings: list[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    _read(files, tmp_path)
    _read(files, tmp_path, frozenset({"trl"}))
    read_scripts(files, files[0].parent, named=frozenset(files), store=tmp_path)
    monkeypatch.setattr(kept, "_reader", lambda: "another")
    _read(files, tmp_path)
    assert len(readings) == 4


@pytest.mark.parametrize("raw", [b"", b"{", b"{}", b"[]", b"\xff\x00", b'{"requests": [1]}', None])
def test_a_damaged_file_is_read_over(
    files: list[Path], tmp_path: Path, readings: list[None], raw: bytes | None
) -> None:
    whole = _read(files, tmp_path)
    (path,) = (tmp_path / "readings").iterdir()
    path.write_bytes(path.read_bytes()[:-9] if raw is None else raw)
    assert _same(_read(files, tmp_path), whole) and len(readings) == 2
    assert _same(_read(files, tmp_path), whole) and len(readings) == 2


def test_a_folder_that_cannot_be_written_keeps_nothing(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    assert _same(_read(files, tmp_path / "store"), _read(files, None))


def test_the_oldest_reading_goes(files: list[Path], tmp_path: Path, readings: list[None]) -> None:
    _read(files, tmp_path)
    (first,) = (tmp_path / "readings").iterdir()
    for count in range(kept.MOST):
        files[1].write_text(f"KW = {{'seed': {count + 2}}}\n")
        os.utime(first, (count, count))
        _read(files, tmp_path)
    assert len(list((tmp_path / "readings").iterdir())) == kept.MOST and not first.exists()
    assert len(readings) == kept.MOST + 1
