"""A person makes a key, trains, corrects and verifies; what keeps a seal from being signed loses nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.desk import CLEAN, Desk, desk

from affidavit.record import key

SEAL = '[seal]\nkey = "affidavit"\ntrusted = ["affidavit.pub"]\n'
CORRECTION = ("--falls", "attention.*", "--reviewed-nothing-else", "--why", "another seat", "--author", "Ada")


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A project that signs and has a witness, with one run."""
    place = tmp_path_factory.mktemp("held")
    made = desk(place / "project")
    made.environment["XDG_CONFIG_HOME"] = str(place / "config")
    assert made.type("key", "new").exit_code == 0
    (made.root / "affidavit.toml").write_text(f'{SEAL}witness = "git"\n')
    ended = made.train(CLEAN)
    assert ended.returncode == 0 and "unsigned" not in ended.stderr, ended.stderr
    return made


@pytest.fixture
def signed(held: Desk, tmp_path: Path) -> Desk:
    """The same, for a test that changes it."""
    shutil.copytree(held.root, tmp_path / "project")
    return Desk(tmp_path / "project", environment=dict(held.environment))


def run_of(project: Desk) -> Path:
    (run,) = project.run_ids
    return project.root / ".affidavit" / "runs" / run


def standings(project: Desk, *words: str) -> dict[str, str]:
    return {one["what"]: one["standing"] for one in project.document("verify", *words)["checked"]}


def forget(project: Desk) -> None:
    """Take away what the repository remembers, and the setting with it."""
    for ref in refs(project).split():
        if ref.startswith("refs/affidavit/seals/"):
            subprocess.run(["git", "update-ref", "-d", ref], cwd=project.root, check=True)
    settled(project, SEAL)


def settled(project: Desk, text: str) -> None:
    (project.root / "affidavit.toml").write_text(text)


def test_a_key_is_made_and_its_two_lines_are_told(project: Desk, tmp_path: Path) -> None:
    project.environment["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    ended = project.type("key", "new", "--name", "ada")
    assert ended.exit_code == 0
    made = key.line(key.read_public(project.root / "ada.pub"), "ada")
    assert f'  [seal]\n  key = "ada"\n  trusted = ["{made}"]\n' in ended.stdout
    assert not (project.root / "affidavit.toml").exists(), "a setting is its author's to make"
    assert (tmp_path / "config" / "affidavit" / "keys" / "ada.pem").is_file()
    shown = project.type("key", "show", "--name", "ada").stdout
    assert shown == (project.root / "ada.pub").read_text()
    again = project.type("key", "new", "--name", "ada")
    assert again.exit_code == 2 and "affidavit key show --name ada > ada.pub" in again.stderr
    assert project.document("key", "new", "--name", "grace")["public"].endswith("/grace.pub")


def test_what_is_sealed_is_signed_and_remembered(held: Desk) -> None:
    ended = held.type("verify")
    assert ended.exit_code == 0, ended.stdout
    assert ended.stdout.splitlines()[-1] == "All of it holds."
    assert standings(held) == {
        "manifest": "holds",
        "corrections": "none",
        "signature": "holds",
        "signed head": "holds",
        "evidence": "holds",
        "tokens": "holds",
        "git witness": "holds",
    }


def test_a_key_in_the_settings_is_not_swapped_with_its_file(signed: Desk) -> None:
    public = signed.root / "affidavit.pub"
    written = key.line(key.read_public(public), "ada")
    assert signed.type("key", "new", "--name", "mallory").exit_code == 0
    (signed.root / "mallory.pub").replace(public)
    settled(signed, SEAL)
    ended = signed.type("verify")
    assert ended.exit_code == 1 and "✗ signature    signed by a key that this project does not name" in ended.stdout
    settled(signed, SEAL.replace("affidavit.pub", written))
    ended = signed.type("verify")
    assert ended.exit_code == 0 and "by ada (" in ended.stdout, ended.stdout
    settled(signed, "")
    ended = signed.type("verify", "--key", written)
    assert ended.exit_code == 0, ended.stdout


def test_a_correction_is_signed_and_remembered_too(signed: Desk) -> None:
    for _ in range(2):
        ended = signed.type("annotate", "last", *CORRECTION)
        assert ended.exit_code == 0 and ended.stderr == ""
    found = signed.document("verify")
    assert found["standing"] == "holds", found
    assert any(one["said"].endswith("counts 2 corrections") for one in found["checked"])
    assert any("the last of 3 in refs/affidavit/seals" in one["said"] for one in found["checked"])


def test_a_project_without_a_key_is_told_what_a_chain_does_not_show(trained: Desk) -> None:
    ended = trained.type("verify")
    assert ended.exit_code == 0
    said = " ".join(ended.stdout.split())
    assert "unsigned: shows accidental edits only. No outside witness: a chain alone does not show a rewrite" in said
    assert ended.stderr == ""


def test_a_key_that_is_not_there_costs_a_signature_and_no_seal(held: Desk, tmp_path: Path) -> None:
    for setting, why in (
        ('[seal]\nkey = "nobody"\n', "nobody.pem"),
        ('[seal]\nkey = "./train.py"\n', "train.py"),
        ("[seal]\nkeys = 1\n", "seal.keys"),
    ):
        project = desk(tmp_path / why)
        project.environment["XDG_CONFIG_HOME"] = held.environment["XDG_CONFIG_HOME"]
        ended = project.train(CLEAN)
        folder = run_of(project)
        for name in ("manifest.json", "head.json"):
            (folder / name).unlink()
        settled(project, setting)
        sealed = project.start("ls")
        assert (folder / "head.json").is_file() and not (folder / "manifest.dsse.json").exists()
        assert "unsigned: " in sealed.stderr and why in sealed.stderr, sealed.stderr
        assert ended.returncode == 0 and sealed.returncode == 0


def test_a_wrong_passphrase_costs_a_signature_and_no_seal(project: Desk, tmp_path: Path) -> None:
    project.environment |= {"XDG_CONFIG_HOME": str(tmp_path / "config"), "AFFIDAVIT_KEY_PASSWORD": "open sesame"}
    assert project.type("key", "new").exit_code == 0
    settled(project, SEAL)
    assert project.train(CLEAN).returncode == 0
    assert standings(project)["signature"] == "holds"
    project.environment["AFFIDAVIT_KEY_PASSWORD"] = "open barley"
    ended = project.train(CLEAN)
    assert ended.returncode == 0 and "affidavit: sealed unsigned: private key" in ended.stderr
    assert "barley" not in ended.stderr
    assert project.type("verify").exit_code == 4, "the project expects a signature"


def test_a_key_in_the_environment_signs_where_no_setting_does(held: Desk, project: Desk) -> None:
    """As in CI, where the key is a mounted secret."""
    place = Path(held.environment["XDG_CONFIG_HOME"]) / "affidavit" / "keys" / "affidavit.pem"
    project.environment["AFFIDAVIT_KEY"] = str(place)
    assert project.train(CLEAN).returncode == 0
    del project.environment["AFFIDAVIT_KEY"]
    assert project.type("verify").exit_code == 4, "nobody here names the key"
    public = str(held.root / "affidavit.pub")
    ended = project.type("verify", "--key", public)
    assert ended.exit_code == 0, ended.stdout
    assert "no outside witness" in ended.stdout


def test_a_folder_that_somebody_sent_is_verified_where_it_lies(held: Desk, tmp_path: Path) -> None:
    shutil.copytree(run_of(held), tmp_path / "sent")
    elsewhere = desk(tmp_path / "elsewhere")
    public = str(held.root / "affidavit.pub")
    assert elsewhere.type("verify", str(tmp_path / "sent"), "--key", public).exit_code == 0
    (path,) = (tmp_path / "sent" / "tokens").iterdir()
    path.write_text("other words")
    ended = elsewhere.type("verify", str(tmp_path / "sent"), "--key", public)
    assert ended.exit_code == 1 and "✗ tokens" in ended.stdout


def test_a_run_under_the_name_of_another_is_seen_by_every_reader(signed: Desk) -> None:
    """Each byte of it holds, and whoever asks for the other run would be shown this one."""
    folder = run_of(signed)
    folder.rename(folder.with_name(folder.name.replace("Z", "\u0396")))  # a letter that looks the same
    ended = signed.type("verify")
    assert ended.exit_code == 1 and "✗ folder" in ended.stdout and "\\u0396" in ended.stdout, ended.stdout
    for verb in ("show", "check", "report"):
        ended = signed.type(verb)
        assert ended.exit_code == 2 and "expected its own record in its folder" in ended.stderr, ended.output


def test_verify_reads_what_others_refuse_and_seals_nothing(signed: Desk) -> None:
    folder = run_of(signed)
    for name in ("manifest.json", "head.json", "manifest.dsse.json", "head.dsse.json"):
        (folder / name).unlink()
    before = sorted(path.name for path in folder.iterdir())
    assert signed.type("verify").exit_code == 1, "the witness has seen a seal"
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_seal_that_was_taken_away_is_not_signed_anew(signed: Desk) -> None:
    """Else whoever may write the folder edits a journal, takes the seal away, and lets the next reader sign it."""
    folder = run_of(signed)
    for name in ("manifest.json", "head.json", "manifest.dsse.json", "head.dsse.json"):
        (folder / name).unlink()
    (journal,) = folder.glob("journal.*")
    journal.write_bytes(journal.read_bytes().replace(b'"flash"', b'"maths"'))
    ended = signed.start("ls")
    assert "sealed unsigned: nothing of it was left on this machine" in ended.stderr
    assert not (folder / "manifest.dsse.json").exists()
    assert signed.type("verify").exit_code == 1, "the witness has seen another seal"
    forget(signed)
    assert signed.type("verify").exit_code == 4


def test_a_manifest_that_lay_there_already_is_not_signed(signed: Desk) -> None:
    folder = run_of(signed)
    for name in ("head.json", "manifest.dsse.json", "head.dsse.json"):
        (folder / name).unlink()
    path = folder / "manifest.json"
    raw = path.read_bytes().replace(b'"flash"', b'"maths"')
    path.unlink()
    path.write_bytes(raw)
    ended = signed.start("ls")
    assert "sealed unsigned: its manifest lay there already" in ended.stderr
    assert signed.type("verify").exit_code == 1


def test_a_forged_seal_is_not_made_ours_by_a_correction(signed: Desk) -> None:
    folder = run_of(signed)
    path = folder / "manifest.json"
    raw = path.read_bytes().replace(b'"flash"', b'"maths"')
    path.unlink()
    path.write_bytes(raw)
    (folder / "head.json").unlink()
    settled(signed, "")
    signed.start("ls")  # makes the head anew, as whoever holds the folder could
    settled(signed, SEAL)
    ended = signed.type("annotate", "last", *CORRECTION)
    assert ended.exit_code == 0
    assert "the correction is unsigned: signature: manifest.dsse.json: it speaks of manifest.json" in " ".join(
        ended.stderr.split()
    )
    assert signed.type("verify").exit_code == 1


def test_a_correction_by_somebody_without_the_key_is_told_as_unsigned(signed: Desk, tmp_path: Path) -> None:
    signed.environment["XDG_CONFIG_HOME"] = str(tmp_path / "nobody")
    ended = signed.type("annotate", "last", *CORRECTION)
    assert ended.exit_code == 0 and "affidavit: the correction is unsigned" in ended.stderr
    found = signed.type("verify")
    assert found.exit_code == 4 and "1 after it are unsigned" in " ".join(found.stdout.split())


def test_a_witness_that_cannot_hear_is_told_and_costs_nothing(signed: Desk) -> None:
    place = signed.root / ".git" / "refs" / "affidavit"
    shutil.rmtree(place)
    place.write_text("a file where a folder should be")
    ended = signed.train(CLEAN)
    assert ended.returncode == 0 and "affidavit: no witness: git.answer" in ended.stderr
    assert signed.type("verify").exit_code == 4


def test_the_seal_of_an_earlier_attempt_stays_verified(signed: Desk) -> None:
    """A requeued job is one run; its first seal is moved aside with its signatures."""
    job = f"9{os.getpid()}"  # a spool is called by it, and other tests of this machine have spools, too
    run = f"slurm-{job}"
    for count, code in (("0", 1), ("1", 0)):
        signed.environment |= {"SLURM_JOB_ID": job, "SLURM_RESTART_COUNT": count}
        signed.train(CLEAN, code=code)
    for name in ("SLURM_JOB_ID", "SLURM_RESTART_COUNT"):
        del signed.environment[name]
    folder = signed.root / ".affidavit" / "runs" / run
    kept = folder / "sealed" / "0"
    assert {path.name for path in kept.iterdir()} == {
        "manifest.json",
        "head.json",
        "manifest.dsse.json",
        "head.dsse.json",
    }
    ended = signed.type("verify", run)
    assert ended.exit_code == 0 and "✓ attempt 0" in ended.stdout, ended.stdout
    assert standings(signed, run)["git witness"] == "holds"
    raw = (kept / "manifest.json").read_bytes()
    (kept / "manifest.json").unlink()
    (kept / "manifest.json").write_bytes(raw.replace(b'"flash"', b'"maths"'))
    assert signed.type("verify", run).exit_code == 1
    shutil.rmtree(kept)
    assert signed.type("verify", run).exit_code == 1, "the witness has seen it"
    forget(signed)
    assert signed.type("verify", run).exit_code == 4, "the later seal names one that is gone"


def test_a_drill_in_a_project_with_a_witness_tells_it_nothing(signed: Desk) -> None:
    place = signed.root.parent / "worlds" / "attention_as_requested"
    place.mkdir(parents=True)
    for name in ("fault.py", "clean.py"):
        (place / name).write_text("pass\n")
    before = refs(signed)
    signed.start("drill", "--world", str(place.parent))
    assert refs(signed) == before


def test_a_folder_elsewhere_is_sealed_and_not_vouched_for(signed: Desk, tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    shutil.copytree(run_of(signed), sent)
    for name in ("manifest.json", "head.json", "manifest.dsse.json", "head.dsse.json"):
        (sent / name).unlink()
    before = refs(signed)
    ended = signed.start("show", str(sent))
    assert ended.returncode == 0 and (sent / "head.json").is_file() and "sealed unsigned" not in ended.stderr
    assert not (sent / "manifest.dsse.json").exists() and refs(signed) == before


def refs(project: Desk) -> str:
    words = ["git", "for-each-ref"]
    return subprocess.run(words, cwd=project.root, check=True, capture_output=True, text=True).stdout


def test_without_the_extra_a_signature_is_told_as_not_checked(signed: Desk, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    for name in ("cryptography", "securesystemslib"):
        (tmp_path / "without" / f"{name}.py").write_text(
            f'raise ImportError("No module named {name}", name="{name}")\n'
        )
    signed.environment["PYTHONPATH"] = f"{tmp_path / 'without'}:{signed.environment['PYTHONPATH']}"
    ended = signed.start("verify")
    assert ended.returncode == 4 and "no cryptography" in " ".join(ended.stdout.split())
    trained = signed.train(CLEAN)
    assert trained.returncode == 0 and "sealed unsigned: signatures: expected" in trained.stderr
    made = signed.start("key", "new", "--name", "eve")
    assert made.returncode == 2 and "pip install 'affidavit[sign]'" in made.stderr


def test_the_doctor_says_who_would_sign(held: Desk, project: Desk) -> None:
    said = {one["about"]: one for one in held.document("doctor", "--python", sys.executable)["environment"]}
    assert said["seal"]["sight"] == "clear" and "affidavit.pem" in said["seal"]["said"]
    assert "seal" not in project.type("doctor", "--python", sys.executable).stdout
    settled(project, '[seal]\nkey = "./open.pem"\n')
    ours = Path(held.environment["XDG_CONFIG_HOME"]) / "affidavit" / "keys" / "affidavit.pem"
    shutil.copy(ours, project.root / "open.pem")
    (project.root / "open.pem").chmod(0o644)
    said = {one["about"]: one for one in project.document("doctor", "--python", sys.executable)["environment"]}
    assert said["seal"]["sight"] == "less" and said["seal"]["said"].endswith("signs as you: chmod 600")
    assert '"trusted" under [seal] does not name it' in said["seal"]["said"], "what it signs is believed by nobody"
    settled(project, '[seal]\nkey = "nobody"\n')
    said = {one["about"]: one for one in project.document("doctor", "--python", sys.executable)["environment"]}
    assert said["seal"]["sight"] == "less" and said["seal"]["said"].startswith("unsigned: private key")


def test_the_document_of_a_verification_is_one(held: Desk) -> None:
    found = held.document("verify")
    assert set(found) == {"format", "affidavit", "run", "standing", "checked", "summary"}
    assert json.dumps(found).isascii()
