"""What is no run of ours is corrected by its digest, and its chain is held to every row of the attack matrix."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from record_world import THEN, WORDS

from affidavit.fact.observation import Known
from affidavit.fact.values import Table
from affidavit.record import annotated, chain, fold, seal, verification
from affidavit.record.annotated import ArtifactError, annotate_artifact
from affidavit.record.annotation import VALUES, AnnotationError, Correction, Extent
from affidavit.record.seal import SealError
from affidavit.record.standing import Standing
from affidavit.record.trust import Trust

HOLDS = ("claim:encode-cache-rebuild", "claim:kernel-table", "section:5", "section:6")


def said(*falls: str, survives: tuple[str, ...] = (), **more: object) -> Correction:
    return Correction(falls=falls, survives=survives, reason="measured: 145.5 s", author="ada", time=THEN, **more)  # type: ignore[arg-type]


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "docs" / "sizing.md"
    path.parent.mkdir()
    path.write_text("# Sizing\n\nThe cache takes 4.3 hours.\n")
    return path


def correct(path: Path, what: Correction, root: Path) -> Path:
    return annotate_artifact(path, what, root=root, vocabulary=WORDS, holds=HOLDS)[0]


def test_the_chain_of_a_document_is_kept_by_its_digest_and_the_document_is_not_touched(
    card: Path, tmp_path: Path
) -> None:
    before = card.read_bytes()
    folder, made = annotate_artifact(
        card, said("section:6", survives=("claim:kernel-table",)), root=tmp_path, vocabulary=WORDS, holds=HOLDS
    )
    assert card.read_bytes() == before
    assert folder == tmp_path / "affidavit.corrections" / hashlib.sha256(before).hexdigest()
    assert annotated.chain_of(card, tmp_path) == folder
    assert (made.kind, made.falls, made.survives) == (Extent.ERRATUM, ("section:6",), ("claim:kernel-table",))
    assert made.not_reviewed == ("claim:encode-cache-rebuild", "section:5", "sizing.md")
    (values,) = (fact for fact in fold.read_record(folder).facts if fact.name == VALUES)
    assert isinstance(values.state, Known) and isinstance(values.state.value, Table)
    assert ("section:6", "FALLS since #1: measured: 145.5 s") in values.state.value.rows
    assert ("section:5", "") in values.state.value.rows


def test_a_second_correction_goes_on_and_a_changed_document_is_another(card: Path, tmp_path: Path) -> None:
    first = correct(card, said("section:6"), tmp_path)
    assert correct(card, said("section:5"), tmp_path) == first and len(chain.read(first)) == 2
    written = card.read_bytes()
    card.write_text("> a banner\n" + written.decode())
    assert annotated.chain_of(card, tmp_path) is None
    assert annotated.chain_of(card, tmp_path, content=written) == first, "by what it is without its banner"


def test_names_must_exist_and_falls_and_survives_be_disjoint(card: Path, tmp_path: Path) -> None:
    for wrong, why in (
        (said("section:7"), 'nothing named "section:7"'),
        (said("section:*", survives=("section:6",)), "both falls and survives"),
        (said("section:6", nothing_else=False), "--reviewed-nothing-else"),
        (said("section:6", survives=("section:5",), nothing_else=True), "says that nothing else was looked at"),
        (said("section:6", kind=Extent.RETRACTION), "its kind is retraction, and a part falls"),
        (said(kind=Extent.ERRATUM), "its kind is erratum, and nothing falls"),
        (said("section:6", kind=Extent.SUPERSEDES), "what takes the record's place"),
    ):
        with pytest.raises(AnnotationError) as caught:
            correct(card, wrong, tmp_path)
        assert why in str(caught.value)
    assert chain.read(correct(card, said("*"), tmp_path))[0].kind is Extent.RETRACTION


def test_each_kind_is_written_and_read(card: Path, tmp_path: Path) -> None:
    for what in (
        said(),
        said("section:6", nothing_else=True),
        said("section:5", kind=Extent.PARTIAL),
        said(by="docs/sizing-2.md"),
    ):
        folder = correct(card, what, tmp_path)
    assert [one.kind.value for one in chain.read(folder)] == ["note", "erratum", "partial retraction", "supersedes"]
    lines = [json.loads(line) for line in (folder / "annotations.jsonl").read_bytes().splitlines()]
    assert ["by" in line for line in lines] == [False, False, False, True], "old lines keep their digests"


def test_a_folder_is_called_by_all_of_its_files(tmp_path: Path) -> None:
    place = tmp_path / "model"
    place.mkdir()
    (place / "config.json").write_text("{}")
    (place / "model.safetensors").write_bytes(b"weights")
    folder = correct(place, said("model.safetensors"), tmp_path)
    (place / "affidavit.json").write_text("{}")
    assert annotated.chain_of(place, tmp_path) == folder, "the mark that we leave is none of it"
    (place / "model.safetensors").write_bytes(b"Weights")
    assert annotated.chain_of(place, tmp_path) is None


def test_where_nothing_is_there_is_nothing_to_correct(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("/etc/hostname")
    for name in ("nothing", "empty", "link"):
        with pytest.raises(ArtifactError, match="expected a file, or a folder of files"):
            correct(tmp_path / name, said(), tmp_path)


def test_the_links_of_a_hubs_cache_are_followed(tmp_path: Path) -> None:
    blob = tmp_path / "blobs" / "abc"
    blob.parent.mkdir()
    blob.write_bytes(b"weights")
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    (snapshot / "model.safetensors").symlink_to("../blobs/abc")
    folder = correct(snapshot, said("model.safetensors"), tmp_path)
    assert annotated.chain_of(snapshot, tmp_path) == folder


def test_what_has_another_size_than_all_of_which_anything_was_said_is_not_read(
    card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = correct(card, said("section:6"), tmp_path)
    large = tmp_path / "large"
    large.write_bytes(b"x" * 4096)

    def never(*_: object, **__: object) -> str:
        raise AssertionError("it was read")

    with monkeypatch.context() as there:
        there.setattr(annotated.file, "sha256", never)
        assert annotated.chain_of(large, tmp_path) is None
    (folder / "manifest.json").chmod(0o644)
    (folder / "manifest.json").write_bytes(b"\xff{{{")
    assert annotated.chain_of(large, tmp_path) is None, "what cannot be read is of nobody knows how many bytes"
    assert annotated.chain_of(card, tmp_path) == folder
    assert verification.verify(folder, Trust()).worst is Standing.BROKEN
    with pytest.raises(SealError):
        correct(card, said("section:5"), tmp_path)


def _lines(folder: Path) -> list[bytes]:
    return (folder / "annotations.jsonl").read_bytes().splitlines(keepends=True)


def _write(path: Path, raw: bytes) -> None:
    path.unlink()
    path.write_bytes(raw)


def edit_what_was_sealed(folder: Path) -> None:
    raw = (folder / "manifest.json").read_bytes()
    _write(folder / "manifest.json", raw.replace(b"section:5", b"section:9"))


def edit_an_annotation(folder: Path) -> None:
    _write(folder / "annotations.jsonl", b"".join(_lines(folder)).replace(b"145.5 s", b"200.0 s"))


def delete_one_in_the_middle(folder: Path) -> None:
    first, _, last = _lines(folder)
    _write(folder / "annotations.jsonl", first + last)


def reorder(folder: Path) -> None:
    first, second, last = _lines(folder)
    _write(folder / "annotations.jsonl", second + first + last)


def truncate(folder: Path) -> None:
    _write(folder / "annotations.jsonl", b"".join(_lines(folder)[:-1]))


def tear(folder: Path) -> None:
    _write(folder / "annotations.jsonl", b"".join(_lines(folder))[:-20])


def delete_all(folder: Path) -> None:
    (folder / "annotations.jsonl").unlink()


def rewrite_by_who_holds_it(folder: Path) -> None:
    """Chain and head agree with one another: only what lies outside of the folder shows this one."""
    delete_all(folder)
    sealed = seal.read_sealed
    head = seal.Head(manifest=seal.read_head(folder).manifest, count=0, last=seal.read_head(folder).manifest)
    _write(folder / "head.json", head.encode())
    assert sealed(folder).head == head


@pytest.mark.parametrize(
    ("attack", "standing"),
    [
        (edit_what_was_sealed, Standing.BROKEN),
        (edit_an_annotation, Standing.BROKEN),
        (delete_one_in_the_middle, Standing.BROKEN),
        (reorder, Standing.BROKEN),
        (truncate, Standing.BROKEN),
        (tear, Standing.BROKEN),
        (delete_all, Standing.BROKEN),
        (rewrite_by_who_holds_it, Standing.HOLDS),
    ],
)
def test_each_attack_on_the_chain_of_an_artifact(
    card: Path, tmp_path: Path, attack: Callable[[Path], None], standing: Standing
) -> None:
    for name in ("section:6", "section:5", "claim:kernel-table"):
        folder = correct(card, said(name), tmp_path)
    assert verification.verify(folder, Trust()).worst is Standing.HOLDS
    copy = tmp_path / "copy" / folder.name
    shutil.copytree(folder, copy)
    attack(copy)
    assert verification.verify(copy, Trust()).worst is standing
