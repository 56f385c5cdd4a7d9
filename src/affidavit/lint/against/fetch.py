"""Another version of a package, unpacked into a scratch folder, so that it can be read as text."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from affidavit.fact.errors import AffidavitError, refusal

_LIMIT_SECONDS = 600.0


class FetchError(AffidavitError):
    """A version that was asked for could not be had."""


def fetch(requirement: str, folder: Path, *, limit_seconds: float = _LIMIT_SECONDS) -> tuple[Path, ...]:
    """Return the folders in which another version lies, to be read by a catalogue; nothing of it is imported.

    Args:
        requirement: ``transformers==5.24.0``, the path of a wheel, or a folder of packages that is there already.
        folder: an empty folder of ours, into which it is unpacked.
    Raises:
        FetchError: pip did not find it, or what was given cannot be read.
    Source: ``pip install --no-deps --target``: the index, the credentials and the cache are those of the user's pip.
    Blind to: its dependencies, which stay as they are installed; text that a package makes when it is built.
    """
    path = Path(requirement)
    if path.is_dir():
        return (path.resolve(),)
    folder.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".whl" and path.is_file():
        return (_unpacked(path, folder),)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "--no-input", "--target", str(folder), "--", requirement]
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refused(requirement, f"pip did not end: {type(error).__name__}") from error
    if ended.returncode:
        lines = [line for line in ended.stderr.splitlines() if line.startswith("ERROR")] or ended.stderr.splitlines()
        raise _refused(requirement, lines[-1].removeprefix("ERROR: ") if lines else f"exit code {ended.returncode}")
    return (folder,)


def _unpacked(wheel: Path, folder: Path) -> Path:
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile) as error:
        raise _refused(str(wheel), f"{type(error).__name__}: {error}") from error
    return folder


def _refused(requirement: str, saw: str) -> FetchError:
    return FetchError(
        refusal(
            subject="against",
            expected=f"a version that pip can fetch ({requirement})",
            saw=saw,
            means="Nothing was compared.",
            action=f'Run "{Path(sys.executable).name} -m pip download --no-deps {requirement}", or name a wheel.',
            unaffected="what is installed; it was not touched",
        )
    )
