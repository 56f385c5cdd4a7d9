"""A folder that cannot be written is said before the start; a disk that fills up later loses nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from run_world import Project

from affidavit.record.manifest import Status
from affidavit.run import supervise
from affidavit.run.launch import RunFolderError
from affidavit.run.sealing import Running, ensure_sealed


def _mounted(place: Path, options: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("mount needs root")
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(place)], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("mount needs root")


def test_a_run_folder_that_cannot_be_written_is_said_before_anything_is_started(project: Project) -> None:
    place = project.root / "locked"
    _mounted(place, "size=64k")
    try:
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        project.environment["AFFIDAVIT_DIR"] = str(place)
        with pytest.raises(RunFolderError, match="Read-only file system"):
            project.prepare("touch", str(project.root / "started"))
        assert not (project.root / "started").exists()
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_fills_up_does_not_end_the_run_and_loses_nothing(project: Project) -> None:
    place = project.root / "small"
    _mounted(place, "size=128k")
    try:
        project.environment["AFFIDAVIT_DIR"] = str(place)
        prepared = project.prepare(*project.light("--steps=60"))
        with (place / "filler").open("wb") as filler, pytest.raises(OSError, match="No space"):
            filler.write(b"x" * 1_000_000)
        ended = supervise.supervise(prepared)
        assert (ended.code, ended.status) == (0, Status.FINISHED)
        assert any("No space left on device" in note for note in ended.notes)
        (place / "filler").unlink()
        found = ensure_sealed(prepared.folder)
        assert not isinstance(found, Running)
        assert (found.status, found.attempts[0].last_step) == (Status.FINISHED, 60)
    finally:
        subprocess.run(["umount", str(place)], check=True)
