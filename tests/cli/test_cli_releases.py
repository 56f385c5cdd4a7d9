"""What an earlier release sealed is read by this one; ``tests/record/sealed/make.py`` keeps one record of each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.cli.desk import Desk

import affidavit
from affidavit.fact.observation import Cause, Unknown
from affidavit.record.fold import read_record

KEPT = Path(__file__).parents[1] / "record" / "sealed"
RELEASES = sorted(path for path in KEPT.iterdir() if path.is_dir() and path.name[0].isdigit())


def run_of(release: Path) -> Path:
    (run,) = (path for path in release.iterdir() if path.is_dir())
    return run


def test_this_release_has_a_record() -> None:
    assert affidavit.__version__ in [release.name for release in RELEASES]


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
class TestEachRelease:
    def test_it_is_shown(self, release: Path, project: Desk) -> None:
        ended = project.type("show", str(run_of(release)), "--facts")
        assert ended.exit_code == 0, ended.stderr
        assert run_of(release).name in ended.stdout and "profiled on another seat" in ended.stdout
        tokens = project.type("tokens", str(run_of(release)))
        assert tokens.exit_code == 0 and "No, blue." in tokens.stdout

    def test_its_signature_holds(self, release: Path, project: Desk) -> None:
        found = project.document("verify", str(run_of(release)), "--key", str(release / "release.pub"))
        standings = {one["what"]: one["standing"] for one in found["checked"]}
        assert found["standing"] == "holds" and standings["signature"] == standings["signed head"] == "holds"
        assert standings["evidence"] == standings["tokens"] == standings["corrections"] == "holds"

    def test_its_corrections_are_folded_in(self, release: Path) -> None:
        record = read_record(run_of(release))
        fallen = {
            fact.name for fact in record.facts if isinstance(fact.state, Unknown) and fact.state.cause is Cause.FALLS
        }
        assert {"attention.kernels", "optimizer.asked"} <= fallen
        assert not [name for name in fallen if name.startswith("tokens.")]

    def test_it_differs_from_itself_in_nothing(self, release: Path, project: Desk, tmp_path: Path) -> None:
        shutil.copytree(run_of(release), tmp_path / "copy")
        left, right = str(run_of(release)), str(tmp_path / "copy")
        ended = project.type("diff", left, right)
        assert ended.exit_code == 0, ended.stderr

    def test_an_edit_of_it_is_seen(self, release: Path, project: Desk, tmp_path: Path) -> None:
        shutil.copytree(run_of(release), tmp_path / "copy")
        path = tmp_path / "copy" / "manifest.json"
        raw = path.read_bytes().replace(b'"flash"', b'"maths"')
        path.unlink()
        path.write_bytes(raw)
        ended = project.type("verify", str(tmp_path / "copy"), "--key", str(release / "release.pub"))
        assert ended.exit_code == 1
