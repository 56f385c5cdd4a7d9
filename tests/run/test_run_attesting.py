"""What is not ours to sign stays unsigned, and is said: a key's holder must not become the author of a forgery."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace as with_
from pathlib import Path

import pytest
from tests.run.notarised import World, replace, world, write

from affidavit.record import chain, key, statement, trust
from affidavit.record.seal import Head
from affidavit.record.standing import Standing


def forge(there: World) -> None:
    write(there.folder, "as it never was")


def forge_and_take_the_envelopes_away(there: World) -> None:
    write(there.folder, "as it never was")
    for name in ("manifest.dsse.json", "head.dsse.json"):
        (there.folder / name).unlink()


def cut_off(there: World) -> None:
    """As the folder was after the first correction, and no signature says that there were two."""
    for name in ("annotations.jsonl", "head.json"):
        replace(there.folder / name, (there.stages[1] / name).read_bytes())
    (there.folder / "head.dsse.json").unlink()


def cut_off_under_a_signed_head(there: World) -> None:
    for name in ("annotations.jsonl", "head.json"):
        replace(there.folder / name, (there.stages[1] / name).read_bytes())


@pytest.mark.parametrize(
    ("attack", "why"),
    [
        (forge, "it speaks of manifest.json"),
        (forge_and_take_the_envelopes_away, "the seal has no signature that we trust"),
        (cut_off, "corrections may have been cut off"),
        (cut_off_under_a_signed_head, "they are not these"),
    ],
)
def test_a_correction_signs_nothing_that_was_tampered_with(
    tmp_path: Path, attack: Callable[[World], None], why: str
) -> None:
    there = world(tmp_path / "project", signed=True)
    attack(there)
    path = there.folder / "head.dsse.json"
    before = path.read_bytes() if path.exists() else b""
    chain.annotate(there.folder, falls=("attention.executed",), reason="another seat", author="ada")
    (said,) = there.notary.corrected(there.folder)
    assert said.startswith("the correction is unsigned: ") and why in said
    assert (path.read_bytes() if path.exists() else b"") == before, "it was signed all the same"
    assert there.standing() is not Standing.HOLDS


def test_what_evidence_is_altered_does_not_keep_a_correction_from_being_signed(tmp_path: Path) -> None:
    """It may be what the correction is about."""
    there = world(tmp_path / "project", signed=True)
    (path,) = (there.folder / "evidence").iterdir()
    replace(path, b"other bytes")
    chain.annotate(there.folder, reason="its evidence was altered", author="ada")
    assert there.notary.corrected(there.folder) == ()
    assert there.said("signed head")[1].endswith("counts 3 corrections")


@pytest.mark.parametrize("named", ["a file", "the key itself"])
def test_a_key_that_was_swapped_since_the_commit_is_told(tmp_path: Path, named: str) -> None:
    """Whoever may write the project puts his own key in the place of ours, and signs all of it."""
    there = world(tmp_path / "project", signed=True)
    ours, theirs = (there.root / f"{name}.pub" for name in ("ours", "theirs"))
    item = ours.name if named == "a file" else key.line(key.read_public(ours), "ada")
    (there.root / "affidavit.toml").write_text(f'[seal]\ntrusted = ["{item}"]\n')
    held = with_(there, notary=with_(there.notary, trusted=(trust.named(item, there.root),)))
    assert held.standing() is Standing.HOLDS, "no commit names a key yet"
    for words in (("add", "-f", "affidavit.toml", "ours.pub"), ("commit", "-qm", "whom we believe")):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=there.root, check=True)
    assert held.standing() is Standing.HOLDS
    forge_and_take_the_envelopes_away(held)
    assert held.stranger.sealed(held.folder) == ()
    if named == "a file":
        replace(ours, theirs.read_bytes())
    else:
        swapped = trust.named(key.line(key.read_public(theirs), "ada"), there.root)
        held = with_(held, notary=with_(held.notary, trusted=(swapped,)))
    assert held.said("signature")[0] is Standing.HOLDS
    standing, said = held.said("trusted key")
    assert standing is held.standing() is Standing.UNCHECKED and "is not what the last commit names" in said
    assert with_(held, notary=held.notary.trusting(theirs)).standing() is Standing.HOLDS, "a person names it now"


def test_of_two_corrections_at_once_the_older_head_is_not_signed_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = world(tmp_path / "project", signed=True, witnessed=True)

    def correct() -> None:
        chain.annotate(there.folder, reason="another look", author="grace")
        assert there.notary.corrected(there.folder) == ()

    other, of_head = threading.Thread(target=correct), statement.of_head

    def overtaken(head: Head) -> bytes:
        monkeypatch.setattr(statement, "of_head", of_head)
        other.start()
        other.join(0.5)  # it waits for us, or would have overtaken us by now
        return of_head(head)

    chain.annotate(there.folder, reason="one more look", author="ada")
    monkeypatch.setattr(statement, "of_head", overtaken)
    assert there.notary.corrected(there.folder) == ()
    other.join()
    assert there.said("signed head")[1].endswith("counts 4 corrections")
    assert there.standing() is Standing.HOLDS


def test_a_doubt_leaves_a_seal_unsigned_and_remembered(tmp_path: Path) -> None:
    """The witness says what was sealed, whoever sealed it."""
    there = world(tmp_path / "project", signed=True, witnessed=True)
    forge_and_take_the_envelopes_away(there)
    assert there.notary.sealed(there.folder, doubt="nobody here saw it") == ("sealed unsigned: nobody here saw it",)
    assert not (there.folder / "manifest.dsse.json").exists()
    assert there.said("git witness")[0] is Standing.BROKEN


def test_an_envelope_is_never_overwritten(tmp_path: Path) -> None:
    there = world(tmp_path / "project", signed=True)
    before = [(there.folder / name).read_bytes() for name in ("manifest.dsse.json", "head.dsse.json")]
    write(there.folder, "as it never was")
    assert "was there already" in there.notary.sealed(there.folder)[0]
    assert [(there.folder / name).read_bytes() for name in ("manifest.dsse.json", "head.dsse.json")] == before
    assert with_(there.notary, key="").sealed(there.folder) == (), "who signs nothing has nothing to say"
