"""A key is encrypted where it lies, and gives way to another: old seals stay, its later ones do not."""

from __future__ import annotations

import datetime
import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace as with_
from pathlib import Path

import msgspec
import pytest
from tests.cli.desk import Desk, desk
from tests.run.notarised import World, manifest_of, replace, world

from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.record import annotated, chain, key, rotation, seal, trust
from affidavit.record.annotation import Correction
from affidavit.record.manifest import Attempt, Status
from affidavit.record.standing import Standing
from affidavit.record.trust import Revoked, Trust

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


@pytest.fixture
def project(tmp_path: Path) -> Desk:
    made = desk(tmp_path / "project")
    made.environment["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    return made


def test_a_key_that_is_not_encrypted_is_called_so(project: Desk) -> None:
    ended = project.type("key", "new", "--name", "open")
    assert ended.exit_code == 0 and "NOT encrypted: whoever reads the file signs as you." in ended.stdout
    project.environment[key.PASSWORD] = "correct horse"
    ended = project.type("key", "new", "--name", "closed")
    assert "encrypted; AFFIDAVIT_KEY_PASSWORD opens it" in ended.stdout and "NOT" not in ended.stdout
    place = Path(project.environment["XDG_CONFIG_HOME"]) / "affidavit" / "keys"
    assert b"ENCRYPTED" in (place / "closed.pem").read_bytes() and b"ENCRYPTED" not in (place / "open.pem").read_bytes()


def test_a_key_that_others_can_read_is_told_when_it_signs(tmp_path: Path) -> None:
    there = world(tmp_path / "project", signed=True)
    path = key.folder(there.notary.environment) / "ours.pem"
    path.chmod(0o640)
    for name in ("manifest.dsse.json", "head.dsse.json"):
        (there.folder / name).unlink()
    (said,) = there.notary.sealed(there.folder)
    assert said.endswith("ours.pem has mode 0640, and whoever can read it signs as you: chmod 600")
    assert there.said("signature")[0] is Standing.HOLDS, "it is said, and costs no signature"
    mounted = tmp_path / "mounted"
    mounted.symlink_to(path)
    assert key.exposed(path) and not key.exposed(mounted)


def test_at_a_terminal_the_password_is_asked_for_twice_and_not_shown(project: Desk) -> None:
    ours, theirs = pty.openpty()
    said = b""
    with subprocess.Popen(
        [sys.executable, "-m", "affidavit.cli", "key", "new"],
        cwd=project.root,
        env=project.environment,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        for prompt in (b"Password for the private key", b"Repeat for confirmation"):
            while prompt not in said:
                said += os.read(ours, 4096)
            time.sleep(0.3)  # the echo is turned off after the prompt is written
            os.write(ours, b"correct horse\n")
        assert process.stdout is not None
        told = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0 and b"encrypted; AFFIDAVIT_KEY_PASSWORD opens it" in told
    path = Path(project.environment["XDG_CONFIG_HOME"]) / "affidavit" / "keys" / "affidavit.pem"
    assert key.read_private(path, {key.PASSWORD: "correct horse"}).public.id
    assert b"correct horse" not in said


def test_the_verb_lets_a_new_key_take_the_place_of_the_old_one(project: Desk) -> None:
    assert project.type("key", "new", "--name", "ada").exit_code == 0
    ended = project.type("key", "rotate", "--name", "ada")
    assert ended.exit_code == 0, ended.output
    assert "ada-2.rotation.json  commit it" in ended.stdout and 'key = "ada-2"  trusted stays as it is' in ended.stdout
    believed = _believed(project.root / "ada.pub")
    assert [one.name for one in believed.keys] == ["ada.pub", "ada-2.pub"] and believed.problems == ()
    said = json.loads(project.type("key", "rotate", "--name", "ada-2", "--json").stdout)
    assert (said["name"], said["encrypted"]) == ("ada-3", False)
    assert [one.to for one in _believed(project.root / "ada.pub").retired] == ["ada-2.pub", "ada-3.pub"]


def test_a_key_that_the_project_does_not_have_passes_nothing_on(project: Desk) -> None:
    assert project.type("key", "new", "--name", "ada").exit_code == 0
    (project.root / "ada.pub").unlink()
    ended = project.type("key", "rotate", "--name", "ada")
    assert ended.exit_code == 2 and "A key that nobody trusted has no trust to pass on." in ended.stderr
    assert not (project.root / "ada-2.pub").exists()


def _believed(*named: Path, revoked: Iterable[Revoked] = ()) -> Trust:
    return rotation.succeeded(trust.believed(named, revoked=revoked), [path.parent for path in named])


def _succeed(there: World, old: str, new: str, since: datetime.datetime) -> None:
    place = there.notary.environment if old == "ours" else there.stranger.environment
    made = key.new(new, public=there.root / f"{new}.pub", environment=place)[1]
    secret = key.read_private(key.folder(place) / f"{old}.pem")
    path = there.root / f"{new}{rotation.SUFFIX}"
    path.write_bytes(rotation.endorse(secret, made, name=f"{new}.pub", time=since))


def _sealed_at(there: World, ended: datetime.datetime) -> None:
    """Write the run's folder anew, as a run that ended then, and let our old key sign it, whoever believes it."""
    attempt = Attempt(number=0, command=("python",), started=ended, ended=ended, status=Status.FINISHED, exit_code=0)
    for name in ("manifest.json", "head.json", "annotations.jsonl", "manifest.dsse.json", "head.dsse.json"):
        (there.folder / name).unlink(missing_ok=True)
    seal.seal(there.folder, msgspec.structs.replace(manifest_of(), attempts=(attempt,)))
    assert with_(there.notary, trusted=(), revoked=()).sealed(there.folder) == ()


def test_old_seals_stay_valid_and_later_ones_of_the_old_key_do_not(tmp_path: Path) -> None:
    there = world(tmp_path / "project", signed=True)
    _succeed(there, "ours", "ours-2", NOW)
    _sealed_at(there, NOW - DAY)
    standing, said = there.said("signature")
    assert standing is Standing.HOLDS and "which gave way to ours-2.pub" in said
    assert "sealed before, by its own word" in said
    _sealed_at(there, NOW + DAY)
    standing, said = there.said("signature")
    assert standing is Standing.BROKEN and "this was sealed after it" in said


def test_a_correction_that_the_old_key_signed_later_does_not_hold(tmp_path: Path) -> None:
    there = world(tmp_path / "project", signed=True)
    _sealed_at(there, NOW - DAY)
    _succeed(there, "ours", "ours-2", NOW - DAY / 2)
    chain.annotate(there.folder, falls=("attention.executed",), reason="mine", author="eve")
    there.notary._sign_head(there.folder, key.read_private(key.folder(there.notary.environment) / "ours.pem"))
    assert there.said("signature")[0] is Standing.HOLDS
    assert there.said("signed head")[0] is Standing.BROKEN


def test_a_key_that_gave_way_is_not_let_sign_what_nobody_would_believe(tmp_path: Path) -> None:
    there = world(tmp_path / "project", signed=True)
    _succeed(there, "ours", "ours-2", NOW - DAY)
    chain.annotate(there.folder, falls=("attention.executed",), reason="mine", author="ada")
    (said,) = there.notary.corrected(there.folder)
    assert said.startswith("the correction is unsigned: private key ") and "gave way to ours-2.pub" in said
    for name in ("manifest.dsse.json", "head.dsse.json"):
        (there.folder / name).unlink()
    (said,) = there.notary.sealed(there.folder)
    assert said.startswith("sealed unsigned: private key ") and "gave way to ours-2.pub" in said


@pytest.mark.parametrize("names", ["a file", "the key itself"])
def test_a_key_that_is_revoked_proves_nothing_of_before_and_is_wrong_later(tmp_path: Path, names: str) -> None:
    there = world(tmp_path / "project", signed=True)
    path = there.root / "ours.pub"
    gone = Revoked(key=path if names == "a file" else key.read_public(path), since=NOW.date(), why="stolen")
    there = with_(there, notary=with_(there.notary, trusted=(), revoked=(gone,)))
    _sealed_at(there, NOW - DAY)
    standing, said = there.said("signature")
    assert standing is Standing.UNCHECKED and "(stolen): it says that it was sealed before, and whoever" in said
    _sealed_at(there, NOW + DAY)
    standing, said = there.said("signature")
    assert standing is Standing.BROKEN and "revoked as of" in said and "sealed after it" in said
    assert "revoked as of" in "".join(there.notary.corrected(there.folder)), "nor does it sign any more"


def test_a_key_that_is_revoked_passes_nothing_on(tmp_path: Path) -> None:
    """Whoever holds it could else make a key of his own ours, with a date of before."""
    there = world(tmp_path / "project", signed=True)
    _succeed(there, "ours", "mallory", NOW - 9 * DAY)
    ours = there.root / "ours.pub"
    gone = (Revoked(key=ours, since=NOW.date(), why="stolen"),)
    found = _believed(ours, revoked=gone)
    assert {one.name for one in found.keys} == {"ours.pub"}
    (said,) = found.problems
    assert said == "mallory.pub: what a key that is revoked gave way to; name it in [seal] trusted if it is right"
    assert _believed(ours, there.root / "mallory.pub", revoked=gone).problems == ()


def test_what_was_said_of_a_file_stays_valid_when_its_key_gives_way(tmp_path: Path) -> None:
    """A file has no attempt that ended; it was sealed for the first that was said of it."""
    there = world(tmp_path / "project", signed=True)
    (there.root / "card.md").write_text("# Card\n")
    said = Correction(reason="looked", author="ada", time=NOW - DAY)
    words = load_vocabulary()
    folder, _ = annotated.annotate_artifact(there.root / "card.md", said, root=there.root, vocabulary=words)
    assert there.notary.sealed(folder) == ()
    _succeed(there, "ours", "ours-2", NOW)
    assert there.notary.verify(folder).worst is Standing.HOLDS


def test_a_key_that_gave_way_gives_way_to_nobody_else(tmp_path: Path) -> None:
    """Who finds the old key later would else make his own ours; which of two words is true, no signature says."""
    there = world(tmp_path / "project", signed=True)
    _succeed(there, "ours", "ours-2", NOW - DAY)
    _succeed(there, "ours", "mallory", NOW - 2 * DAY)
    ours, second = there.root / "ours.pub", there.root / "ours-2.pub"
    found = _believed(ours)
    assert [one.name for one in found.keys] == ["ours.pub"] and len(found.problems) == 2
    found = _believed(ours, second)
    assert [one.name for one in found.keys] == ["ours.pub", "ours-2.pub"]
    (said,) = found.problems
    assert said.startswith("mallory.pub: one of several that its key gave way to")


def test_the_verb_passes_nothing_on_from_a_key_that_gave_way_or_over_a_word_that_is_there(project: Desk) -> None:
    assert project.type("key", "new", "--name", "ada").exit_code == 0
    (project.root / "ada-2.rotation.json").write_text("left here")
    ended = project.type("key", "rotate", "--name", "ada")
    assert ended.exit_code == 2 and "ada-2.rotation.json is there" in ended.stderr
    assert not (project.root / "ada-2.pub").exists()
    (project.root / "ada-2.rotation.json").unlink()
    (project.root / "affidavit.toml").write_text('[seal]\ntrusted = ["ada.pub"]\n')
    assert project.type("key", "rotate", "--name", "ada").exit_code == 0
    ended = project.type("key", "rotate", "--name", "ada", "--to", "eve")
    assert ended.exit_code == 2 and "which gave way to ada-2.pub" in ended.stderr
    assert not (project.root / "eve.pub").exists()


def test_a_word_that_no_trusted_key_signed_makes_nobody_trusted(tmp_path: Path) -> None:
    there = world(tmp_path / "project", signed=True)
    _succeed(there, "theirs", "mallory", NOW)
    believed = _believed(there.root / "ours.pub")
    assert [one.name for one in believed.keys] == ["ours.pub"] and believed.retired == ()


@pytest.mark.parametrize("harm", ["another key", "edited", "gone", "no envelope"])
def test_a_word_that_was_touched_is_a_problem_and_passes_nothing_on(tmp_path: Path, harm: str) -> None:
    there = world(tmp_path / "project", signed=True)
    _succeed(there, "ours", "ours-2", NOW)
    word = there.root / "ours-2.rotation.json"
    if harm == "another key":
        replace(there.root / "ours-2.pub", (there.root / "theirs.pub").read_bytes())
    elif harm == "gone":
        (there.root / "ours-2.pub").unlink()
    elif harm == "edited":
        replace(word, word.read_bytes().replace(b'"sig":"', b'"sig":"AAAA', 1))
    else:
        replace(word, b"\xff\x00 nothing")
    believed = _believed(there.root / "ours.pub")
    assert [one.name for one in believed.keys] == ["ours.pub"] and believed.problems
    assert there.said("trusted key")[0] is Standing.UNCHECKED
