"""Real installs: a wheel, pip, and a site folder as pip leaves it; no index is asked."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from git_world import interpreter

from affidavit.observe.code import identify
from affidavit.observe.identity import FileIdentity, LoadedFile
from affidavit.observe.interpreter import Interpreter


def wheel(folder: Path, name: str, files: Mapping[str, str], *, version: str = "1.2") -> Path:
    """A wheel with a RECORD, as any build tool makes it."""
    metadata = f"{name}-{version}.dist-info"
    held = {
        **files,
        f"{metadata}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{metadata}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{path},sha256={hashed(text)},{len(text)}\n" for path, text in held.items()]
    made = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in {**held, f"{metadata}/RECORD": "".join(lines) + f"{metadata}/RECORD,,\n"}.items():
            archive.writestr(path, text)
    return made


def hashed(text: str) -> str:
    """A text's sha256 as RECORD spells it."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def pip(*words: str, python: Path | None = None) -> None:
    aim = () if python is None else ("--python", str(python))
    options = ("--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", "--no-build-isolation")
    command = [sys.executable, "-m", "pip", *aim, "install", *options, *words]
    backends = sysconfig.get_paths()["purelib"]  # the environment that is installed into has none
    environment = {**os.environ, "PYTHONPATH": backends}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def new_environment(folder: Path) -> tuple[Path, Interpreter]:
    """An empty virtual environment: its python, and what that says of itself."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin/python"
    return python, Interpreter.of(python)


def one(path: Path, python: Interpreter | None = None, sha256: str | None = None) -> FileIdentity:
    return identify([LoadedFile(path=path, sha256=sha256)], python or interpreter()).files[0]


def beside(site: Path) -> Interpreter:
    """The interpreter of the tests with another site folder."""
    return replace(interpreter(), sites=(site,))
