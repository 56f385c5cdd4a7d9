"""What each attack on a run folder is caught by: this is the table in ``record/verification.py``, and no more.

A row that says less than it could is as wrong as one that says more: what is NOT caught is what a reader must know.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace as with_
from pathlib import Path

import pytest
from tests.run.notarised import World, replace, world, write

from affidavit.record import chain, key, seal, verification
from affidavit.record.standing import Standing

WORDS = {"caught": Standing.BROKEN, "unknown": Standing.UNCHECKED, "-": Standing.HOLDS}
SETTINGS = {"unsigned": (False, False), "signed": (True, False), "witnessed": (True, True)}


def _swap(path: Path, old: bytes, new: bytes) -> None:
    raw = path.read_bytes()
    assert old in raw
    replace(path, raw.replace(old, new, 1))


def _lines(there: World) -> tuple[Path, list[bytes]]:
    path = there.folder / "annotations.jsonl"
    return path, path.read_bytes().splitlines(keepends=True)


def _envelopes_away(there: World) -> None:
    for name in ("manifest.dsse.json", "head.dsse.json"):
        (there.folder / name).unlink(missing_ok=True)


def edit_a_fact(there: World) -> None:
    _swap(there.folder / "manifest.json", b'"flash"', b'"maths"')


def edit_evidence(there: World) -> None:
    (path,) = (there.folder / "evidence").iterdir()
    replace(path, b"what lay here!")


def swap_evidence_and_tokens(there: World) -> None:
    (one,), (other,) = ((there.folder / name).iterdir() for name in ("evidence", "tokens"))
    first, second = one.read_bytes(), other.read_bytes()
    replace(one, second)
    replace(other, first)


def add_evidence(there: World) -> None:
    replace(there.folder / "evidence" / ("0" * 64), b"planted")


def take_evidence_away(there: World) -> None:
    shutil.rmtree(there.folder / "evidence")


def edit_a_correction(there: World) -> None:
    _swap(there.folder / "annotations.jsonl", b"another run", b"no other ru")


def reorder_corrections(there: World) -> None:
    path, lines = _lines(there)
    replace(path, b"".join(reversed(lines)))


def cut_corrections(there: World) -> None:
    path, lines = _lines(there)
    replace(path, lines[0])


def edit_and_make_the_head_anew(there: World) -> None:
    edit_a_fact(there)
    annotations = there.folder / "annotations.jsonl"
    annotations.unlink()
    (there.folder / "head.json").unlink()
    seal.seal(there.folder, seal.manifest.decode((there.folder / "manifest.json").read_bytes()))


def cut_and_make_the_head_anew(there: World) -> None:
    for name in ("annotations.jsonl", "head.json"):
        replace(there.folder / name, (there.stages[1] / name).read_bytes())


def cut_all_and_make_the_head_anew(there: World) -> None:
    (there.folder / "annotations.jsonl").unlink()
    replace(there.folder / "head.json", (there.stages[0] / "head.json").read_bytes())


def write_all_anew(there: World) -> None:
    write(there.folder, "as it never was")
    chain.annotate(there.folder, falls=("attention.executed",), reason="no reason", author="eve")


def write_anew_and_take_envelopes_away(there: World) -> None:
    write_all_anew(there)
    _envelopes_away(there)


def write_anew_as_another_run(there: World) -> None:
    write(there.folder, "as it never was", run="run-2")
    _envelopes_away(there)


def put_another_run_in_its_place(there: World) -> None:
    """Every byte and every signature of the other run holds; only the name of the folder is not its own."""
    write(there.folder, "as it never was", run="run-2")
    _envelopes_away(there)
    assert there.notary.sealed(there.folder) == ()


def take_only_the_envelopes_away(there: World) -> None:
    _envelopes_away(there)


def write_anew_and_sign_by_another_key(there: World) -> None:
    write_anew_and_take_envelopes_away(there)
    assert there.stranger.sealed(there.folder) == ()


def call_another_key_by_our_name(there: World) -> None:
    """The envelope says that it is signed by whom the project trusts."""
    write_anew_and_sign_by_another_key(there)
    ours, theirs = (key.read_public(there.root / f"{name}.pub").id.encode() for name in ("ours", "theirs"))
    for name in ("manifest.dsse.json", "head.dsse.json"):
        _swap(there.folder / name, theirs, ours)


def put_an_older_state_back(there: World) -> None:
    shutil.rmtree(there.folder)
    shutil.copytree(there.stages[1], there.folder)


def write_anew_by_the_keys_holder(there: World) -> None:
    write_anew_and_take_envelopes_away(there)
    assert with_(there.notary, witness="none").sealed(there.folder) == ()


def move_the_witness_too(there: World) -> None:
    write_anew_and_take_envelopes_away(there)
    subprocess.run(["git", "update-ref", "-d", "refs/affidavit/seals/run-1"], cwd=there.root, check=True)
    assert there.notary.sealed(there.folder) == ()


def take_the_seal_away(there: World) -> None:
    _envelopes_away(there)
    for name in ("manifest.json", "head.json", "annotations.jsonl"):
        (there.folder / name).unlink()


def take_the_manifest_away(there: World) -> None:
    (there.folder / "manifest.json").unlink()


# fmt: off
MATRIX: tuple[tuple[Callable[[World], None], str, str, str], ...] = (
    #                                     unsigned   signed     signed and a witness
    (edit_a_fact,                         "caught",  "caught",  "caught"),
    (edit_evidence,                       "caught",  "caught",  "caught"),
    (swap_evidence_and_tokens,            "caught",  "caught",  "caught"),
    (add_evidence,                        "caught",  "caught",  "caught"),
    (take_evidence_away,                  "unknown", "unknown", "unknown"),
    (edit_a_correction,                   "caught",  "caught",  "caught"),
    (reorder_corrections,                 "caught",  "caught",  "caught"),
    (cut_corrections,                     "caught",  "caught",  "caught"),
    (take_the_manifest_away,              "caught",  "caught",  "caught"),
    (take_the_seal_away,                  "unknown", "unknown", "caught"),
    (edit_and_make_the_head_anew,         "-",       "caught",  "caught"),
    (cut_and_make_the_head_anew,          "-",       "caught",  "caught"),
    (cut_all_and_make_the_head_anew,      "-",       "caught",  "caught"),
    (write_all_anew,                      "-",       "caught",  "caught"),
    (take_only_the_envelopes_away,        "-",       "unknown", "unknown"),
    (write_anew_and_take_envelopes_away,  "-",       "unknown", "caught"),
    (write_anew_as_another_run,           "caught",  "caught",  "caught"),
    (put_another_run_in_its_place,        "caught",  "caught",  "caught"),
    (write_anew_and_sign_by_another_key,  "unknown", "caught",  "caught"),
    (call_another_key_by_our_name,        "unknown", "caught",  "caught"),
    (put_an_older_state_back,             "-",       "-",       "caught"),
    (write_anew_by_the_keys_holder,       "-",       "-",       "caught"),
    (move_the_witness_too,                "-",       "-",       "-"),
)
# fmt: on


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    """One project for each way to vouch, all of them whole."""
    place = tmp_path_factory.mktemp("attacked")
    return {
        name: world(place / name / "project", signed=signed, witnessed=witnessed)
        for name, (signed, witnessed) in SETTINGS.items()
    }


def _copied(whole: World, place: Path) -> World:
    shutil.copytree(whole.root, place)
    trusted = tuple(place / path.name for path in whole.notary.trusted)
    return World(
        root=place,
        notary=with_(whole.notary, root=place, trusted=trusted),
        stranger=with_(whole.stranger, root=place),
    )


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_folder_that_nobody_touched_holds(made: dict[str, World], setting: str) -> None:
    assert made[setting].standing() is Standing.HOLDS


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("row", MATRIX, ids=lambda row: row[0].__name__)
def test_each_attack_is_caught_by_what_the_table_says(
    made: dict[str, World], tmp_path: Path, row: tuple[Callable[[World], None], str, str, str], setting: str
) -> None:
    attack, *said = row
    there = _copied(made[setting], tmp_path / "project")
    attack(there)
    found = there.notary.verify(there.folder)
    assert found.worst is WORDS[said[list(SETTINGS).index(setting)]], found.examined


def test_the_table_in_the_docstring_says_what_the_rows_say() -> None:
    documented = {
        "a fact is edited": edit_a_fact,
        "evidence is edited, swapped or added": edit_evidence,
        "a correction is edited, reordered or cut off": cut_corrections,
        "another run's folder is put in its place": put_another_run_in_its_place,
        "the seal is taken away": take_the_seal_away,
        "a fact is edited, and the head made anew": edit_and_make_the_head_anew,
        "the corrections are cut off, and the head made anew": cut_and_make_the_head_anew,
        "manifest, corrections and head are written anew": write_all_anew,
        "the same, and the envelopes taken away": write_anew_and_take_envelopes_away,
        "the same, signed by another key": write_anew_and_sign_by_another_key,
        "an older state is put back whole, its envelopes with it": put_an_older_state_back,
        "the key's holder writes and signs all of it anew": write_anew_by_the_keys_holder,
        "and moves the witness's ref": move_the_witness_too,
    }
    rows = {row[0]: list(row[1:]) for row in MATRIX}
    lines = str(verification.__doc__).partition("::")[2].splitlines()
    table = [line.split() for line in lines if line.split()[-1:] and line.split()[-1] in WORDS]
    assert [(" ".join(words[:-3]), words[-3:]) for words in table] == [
        (said, rows[attack]) for said, attack in documented.items()
    ]
