"""A secret that is planted everywhere is found nowhere on the disk, neither itself nor a digest of it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from server import Server
from twice import PATHS, ROOT, SCRIPTS, plugin

from affidavit.attach.launch import Launch
from affidavit.fact import folder as names

SECRETS = ("hf_" + "QxWzVyUt" * 4 + "Rs", "correct horse battery", "plain-hunter2-word")
"""One with a shape, one with spaces, and one that is known by its name alone."""

RAISING = """
from affidavit.attach.instrument import Instrument, at
from affidavit.attach.moment import Batch, TrainBegin

class Hands(Instrument):
    name = "hands"
    emits = ()

    @at(TrainBegin)
    def begin(self, moment, emit):
        raise ValueError(f"{moment.model!r}")

    @at(Batch)
    def batch(self, moment, emit):
        raise OSError(str(moment.inputs))
"""


def _arguments(secret: str) -> tuple[str, ...]:
    return (
        "--wandb-key",
        secret,
        f"--hub_token={secret}",
        "--dsn",
        f"postgresql://me:{secret}@db/x",
        "--note",
        f"Authorization: Bearer {secret}" if " " not in secret else f'password: "{secret}"',
    )


def _shapes(secret: str) -> Iterator[bytes]:
    """Yield what may not be on the disk."""
    raw = secret.encode()
    yield raw
    yield base64.b64encode(raw).rstrip(b"=")[:-1]
    yield raw.hex().encode()
    yield json.dumps(secret)[1:-1].encode()
    yield from (getattr(hashlib, name)(raw).hexdigest().encode()[:12] for name in ("sha256", "sha1", "md5"))


def _found(folder: Path, secret: str) -> list[str]:
    return [
        f"{path.relative_to(folder)}: {shape!r}"
        for path in folder.rglob("*")
        if path.is_file()
        for shape in _shapes(secret)
        if shape in path.read_bytes() or shape in str(path).encode()
    ]


@pytest.mark.parametrize("secret", SECRETS)
def test_the_inner_half_keeps_no_secret(world_server: Server, tmp_path: Path, secret: str) -> None:
    spool, out = tmp_path / "spool", tmp_path / "out"
    spool.mkdir()
    out.mkdir()
    launch = names.launch(spool, 0)
    raising = plugin(tmp_path, RAISING)
    launch.write_text(json.dumps(asdict(Launch(run="t", folder=str(tmp_path), spool=str(spool), plugins=(raising,)))))
    ended = world_server.run(
        SCRIPTS / "secretive.py",
        _arguments(secret),
        launch=launch,
        environment={"MY_TOKEN": secret, "HTTPS_PROXY": f"http://me:{secret}@proxy"},
        cwd=out,
    )
    assert ended.returncode == 0, ended.stderr
    assert len(list(spool.rglob("*"))) > 4
    assert len(names.journals(spool)) == 1
    assert _found(spool, secret) == []


def test_a_secret_that_was_kept_would_be_found(tmp_path: Path) -> None:
    for number, shape in enumerate(_shapes(SECRETS[1])):
        (tmp_path / str(number)).write_bytes(b"{" + shape + b"}")
    assert len({line.partition(":")[0] for line in _found(tmp_path, SECRETS[1])}) == 7


@pytest.mark.parametrize("secret", SECRETS)
def test_a_whole_run_keeps_no_secret(tmp_path: Path, secret: str) -> None:
    project, temporary = tmp_path / "project", tmp_path / "tmp"
    project.mkdir()
    temporary.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AFFIDAVIT")}
    environment |= {
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", *PATHS))),
        "TMPDIR": str(temporary),
        "MY_TOKEN": secret,
        "AFFIDAVIT_DIR": str(tmp_path / "runs"),
    }
    command = [sys.executable, str(SCRIPTS / "secretive.py"), *_arguments(secret)]
    ended = subprocess.run(
        [sys.executable, "-m", "affidavit.cli", "run", "--tree", "allow", "--reason", "a test", "--", *command],
        env=environment,
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    kept = list((tmp_path / "runs").rglob("manifest.json"))
    assert len(kept) == 1, ended.stderr
    assert _found(tmp_path / "runs", secret) == []
    assert _found(temporary, secret) == []
    said = (ended.stdout + ended.stderr).encode()
    assert not any(shape in said for shape in _shapes(secret))
