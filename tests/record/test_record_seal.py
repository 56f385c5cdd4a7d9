"""A run is sealed once, by whoever comes first, and a reader gets what was sealed or an error."""

from __future__ import annotations

import errno
import multiprocessing
import os
import stat
from pathlib import Path

import pytest
from record_world import FLASH, MATH, document, fact, record, sealed

from affidavit.fact.values import Digest
from affidavit.record import canonical, chain, seal
from affidavit.record.manifest import Manifest, ManifestError
from affidavit.record.seal import SealError

EXECUTED = "attention.executed"


def made(value: object = FLASH) -> Manifest:
    return document(record(fact(EXECUTED, value)))  # type: ignore[arg-type]


def test_a_second_seal_is_the_first_one(tmp_path: Path) -> None:
    first = seal.seal(tmp_path, made(FLASH))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert seal.seal(tmp_path, made(MATH)) == first, "who comes second changes nothing"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert set(before) == {"manifest.json", "head.json"}, "no temporary file is left"


def test_the_seal_is_read_only_and_named_by_its_bytes(tmp_path: Path) -> None:
    digest = seal.seal(tmp_path, made())
    path = tmp_path / "manifest.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert canonical.digest_bytes(path.read_bytes()) == digest == seal.read_sealed(tmp_path).digest
    assert seal.read_sealed(tmp_path).head.count == 0
    assert seal.is_sealed(tmp_path)


def _race(folder: str, number: int, start: object, answers: object) -> None:
    document_of_one = document(record(fact("tokens.rows_examined", number)))
    start.wait()  # type: ignore[attr-defined]
    answers.put(str(seal.seal(Path(folder), document_of_one)))  # type: ignore[attr-defined]


def test_sealers_at_the_same_time_give_one_seal(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start, answers = context.Event(), context.Queue()
    sealers = [context.Process(target=_race, args=(str(tmp_path), number, start, answers)) for number in range(4)]
    for sealer in sealers:
        sealer.start()
    start.set()
    digests = {answers.get(timeout=30) for _ in sealers}
    for sealer in sealers:
        sealer.join(30)
    assert [sealer.exitcode for sealer in sealers] == [0] * 4
    assert digests == {str(seal.read_sealed(tmp_path).digest)}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["head.json", "manifest.json"]


def test_a_crash_between_manifest_and_head_is_mended_by_the_next_sealer(tmp_path: Path) -> None:
    digest = seal.seal(tmp_path, made(FLASH))
    (tmp_path / "head.json").unlink()
    assert not seal.is_sealed(tmp_path)
    with pytest.raises(SealError, match=r"head\.json"):
        seal.read_sealed(tmp_path)
    assert seal.seal(tmp_path, made(MATH)) == digest
    assert seal.read_sealed(tmp_path).digest == digest


def test_a_head_that_was_taken_away_is_not_made_anew_over_annotations(tmp_path: Path) -> None:
    chain.annotate(sealed(tmp_path, fact(EXECUTED, FLASH)), falls=[EXECUTED], reason="wrong", author="ada")
    (tmp_path / "head.json").unlink()
    with pytest.raises(SealError, match="annotations without a head"):
        seal.seal(tmp_path, made())


def test_an_edited_manifest_is_not_read(tmp_path: Path) -> None:
    seal.seal(tmp_path, made())
    path = tmp_path / "manifest.json"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b'"flash"', b'"maths"'))
    with pytest.raises(SealError, match=r"manifest\.json with sha256:.* saw sha256:"):
        seal.read_sealed(tmp_path)
    assert any("manifest.json" in problem for problem in chain.verify_chain(tmp_path))


@pytest.mark.parametrize("name", ["manifest.json", "head.json"])
def test_a_link_in_place_of_a_file_is_not_followed(tmp_path: Path, name: str) -> None:
    seal.seal(tmp_path, made())
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / name).rename(elsewhere)
    (tmp_path / name).symlink_to(elsewhere)
    with pytest.raises(SealError, match="symbolic link"):
        seal.read_sealed(tmp_path)


def test_a_pipe_in_place_of_a_file_does_not_hang_its_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "manifest.json")
    with pytest.raises(SealError, match="no plain file"):
        seal.read_sealed(tmp_path)


def test_a_huge_file_is_not_read_into_memory(tmp_path: Path) -> None:
    seal.seal(tmp_path, made())
    path = tmp_path / "manifest.json"
    path.chmod(0o644)
    os.truncate(path, 1 << 40)
    with pytest.raises(SealError, match="1,099,511,627,776 bytes, 1,048,576 allowed"):
        seal.read_sealed(tmp_path)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b'{"count":0,"format":2,"last":"sha256:00","manifest":"sha256:00"}',
        b'{"count":0,"format":1,"last":"no digest","manifest":"no digest"}',
        b'{"count":0,"count":1,"format":1}',
        b"[" * 4000,
    ],
)
def test_a_head_that_is_none_is_one_clear_error(tmp_path: Path, raw: bytes) -> None:
    seal.seal(tmp_path, made())
    (tmp_path / "head.json").unlink()
    (tmp_path / "head.json").write_bytes(raw)
    with pytest.raises(SealError, match=r"a head\.json of format 1") as caught:
        seal.read_sealed(tmp_path)
    assert "Not affected: " in str(caught.value)


def test_bytes_that_were_sealed_and_are_no_manifest_are_a_manifest_error(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(b"[]")
    digest = canonical.digest_bytes(b"[]")
    (tmp_path / "head.json").write_bytes(seal.Head(manifest=digest, count=0, last=digest).encode())
    with pytest.raises(ManifestError, match="format 1"):
        seal.read_sealed(tmp_path)


def test_a_file_system_without_links_seals_once_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    first = seal.seal(tmp_path, made(FLASH))
    assert seal.seal(tmp_path, made(MATH)) == first
    assert isinstance(seal.read_sealed(tmp_path).digest, Digest)


def test_a_disk_that_refuses_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        seal.seal(tmp_path, made())
    assert list(tmp_path.iterdir()) == []
