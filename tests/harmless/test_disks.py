"""Where the record cannot be written, the run goes on, one line says so, and nothing of ours stays in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from twice import Ran, Runner, script

from affidavit.fact.observation import Cause, Known

PRIVATE = ("unshare", "--mount", "--map-root-user")
SILENT = "the journal fell silent"


@pytest.fixture(scope="module")
def bare(runner: Runner) -> Ran:
    return runner.bare(script("small.py"))


def _on_disk(runner: Runner, tmp_path: Path, size: str, *arguments: str, read_only: bool = False) -> Ran:
    """Run with a small disk of its own under the spool, and keep what lay on it at the end."""
    spool = tmp_path / "spool"
    spool.mkdir()
    if subprocess.run([*PRIVATE, "mount", "-t", "tmpfs", "x", str(spool)], capture_output=True).returncode:
        pytest.skip("mount needs root")
    kept = tmp_path / "kept"
    start = (
        f'cp -a "{spool}" "{kept}" && mount -t tmpfs -o size={size} spool "{spool}" && cp -a "{kept}/." "{spool}/"; '
        + (f'mount -o remount,ro "{spool}"; ' if read_only else "")
        + f'"$@"; code=$?; rm -f "{spool}/ballast" 2>/dev/null; cp -a "{spool}/." "{kept}/"; exit $code'
    )
    ran = runner.observed(script("small.py"), *arguments, spool=spool, before=(*PRIVATE, "sh", "-c", start, "sh"))
    return Ran(
        returncode=ran.returncode,
        stdout=ran.stdout,
        stderr=ran.stderr,
        seconds=ran.seconds,
        spool=kept,
        out=ran.out,
    )


def _unharmed(ran: Ran, bare: Ran) -> None:
    said, expected = dict(ran.said), dict(bare.said)
    assert said.pop("told") and expected.pop("told")
    assert said == expected


def test_a_disk_that_is_full_in_the_sampled_step(fresh_runner: Runner, tmp_path: Path, bare: Ran) -> None:
    ran = _on_disk(fresh_runner, tmp_path, "256k", "full in step 2")
    _unharmed(ran, bare)
    assert ran.stderr.count("affidavit:") == ran.stderr.count(SILENT) <= 1
    assert ran.journal.episodes
    assert not any(isinstance(state, Known) for state in ran.states("attention.executed")), "half a trace is a lie"
    assert not ran.journal.live_step or ran.unknown("code.listing") is Cause.INSTRUMENT_FAILED
    assert not list(ran.spool.rglob("*.part")) and not list(ran.spool.rglob("trace.*"))


def test_a_disk_that_is_full_from_the_start(fresh_runner: Runner, tmp_path: Path, bare: Ran) -> None:
    ran = _on_disk(fresh_runner, tmp_path, "16k")
    _unharmed(ran, bare)
    assert ran.stderr.count("affidavit:") == ran.stderr.count(SILENT) <= 1


def test_a_disk_that_is_read_only(fresh_runner: Runner, tmp_path: Path, bare: Ran) -> None:
    """The launch file is on it, as after an error that made the kernel remount it."""
    ran = _on_disk(fresh_runner, tmp_path, "1m", read_only=True)
    _unharmed(ran, bare)
    assert ran.stderr.count("\n") == ran.stderr.count("affidavit:") == 1
    assert "Read-only file system" in ran.stderr
    assert ran.journals == ()


@pytest.mark.parametrize("when", ["removed before", "removed in step 2"])
def test_a_spool_that_is_removed(fresh_runner: Runner, bare: Ran, when: str) -> None:
    ran = fresh_runner.observed(script("small.py"), when)
    _unharmed(ran, bare)
    assert ran.stderr.count("\n") == ran.stderr.count("affidavit:") <= 1


def test_a_spool_that_is_no_folder(fresh_runner: Runner, bare: Ran, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    launch = f'mv "{spool}/launch.0.json" "{tmp_path}/keep"; rmdir "{spool}"; mv "{tmp_path}/keep" "{spool}"; exec "$@"'
    ran = fresh_runner.observed(script("small.py"), spool=spool, before=("sh", "-c", launch, "sh"))
    _unharmed(ran, bare)
    assert ran.stderr.count("\n") == ran.stderr.count("affidavit:") == 1


def test_evidence_that_cannot_be_kept_is_unknown(fresh_runner: Runner, bare: Ran, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / "evidence").write_text("no folder")
    ran = fresh_runner.observed(script("small.py"), spool=spool)
    _unharmed(ran, bare)
    assert ran.unknown("code.listing") is Cause.INSTRUMENT_FAILED
    assert ran.stderr == ""
    assert str(ran.known("attention.executed")) == "1 flash"
