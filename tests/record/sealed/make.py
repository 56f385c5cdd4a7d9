"""Keeps one sealed record of this release, so that every later one is held to reading it.

Run by ``python tests/record/sealed/make.py`` in a clone, once for a release; what is there already stays as it is. A
real run under the true launcher, with the names of this machine taken out before it is sealed, signed and corrected.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import socket
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2]))

from tests.cli.desk import USERS, Desk, desk  # noqa: E402

import affidavit  # noqa: E402
from affidavit.record import chain, file, key, manifest, seal  # noqa: E402
from affidavit.run.attesting import Notary  # noqa: E402

HOME = "/home/somebody"
DAY = datetime.datetime(2026, 12, 1, 9, 0, tzinfo=datetime.UTC)


def main() -> int:
    place = HERE / affidavit.__version__
    if place.exists():
        print(f"{place} is there, and stays as it was sealed")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        made = desk(Path(folder) / "project")
        ended = made.train(USERS)
        assert ended.returncode == 0, ended.stderr
        (run,) = (made.root / ".affidavit" / "runs").iterdir()
        keep(made, run, place)
    return 0


def keep(made: Desk, run: Path, place: Path) -> None:
    """Seal a run anew with neutral names, sign it, and correct it twice."""
    target = place / run.name
    target.mkdir(parents=True)
    text = neutral((run / "manifest.json").read_text(), made.root)
    files = [path for name in ("evidence", "tokens") for path in sorted((run / name).iterdir())]
    for path in files:
        raw = neutral(path.read_text(), made.root).encode()
        digest = manifest.canonical.digest_bytes(raw).hex
        text = text.replace(path.name, digest)
        size = f'"bytes":{path.stat().st_size},"digest":"sha256:{digest}"'
        text = text.replace(size, f'"bytes":{len(raw)},"digest":"sha256:{digest}"')
        (target / path.parent.name).mkdir(exist_ok=True)
        file.place_once(target / path.parent.name / digest, raw)
    seal.seal(target, manifest.decode(manifest.canonical.encode(json.loads(text))))
    with tempfile.TemporaryDirectory() as home:
        environment = {"XDG_CONFIG_HOME": home}
        key.new("release", public=place / "release.pub", environment=environment)
        notary = Notary(root=place, key="release", trusted=(place / "release.pub",), environment=environment)
        assert notary.sealed(target) == ()
        for falls, reason in (("attention.*", "profiled on another seat"), ("optimizer.*", "read after the run")):
            chain.annotate(target, falls=(falls,), survives=("tokens.*",), reason=reason, author="Ada", time=DAY)
            assert notary.corrected(target) == ()


def neutral(text: str, project: Path) -> str:
    """Return text in which no path, host or person of this machine is named."""
    for path, name in (
        (str(project), f"{HOME}/project"),
        (sys.prefix, f"{HOME}/.venv"),
        (str(HERE.parents[2]), f"{HOME}/affidavit"),
        (sys.base_prefix, "/usr"),
        (str(project.parent), f"{HOME}/tmp"),
        (f"/dev/shm/affidavit-{os.geteuid()}", "/dev/shm/affidavit-1000"),
    ):
        text = text.replace(path, name)
    return re.sub(rf"\b{re.escape(socket.gethostname())}\b", "node", text)


if __name__ == "__main__":
    sys.exit(main())
