"""The mark: a small file beside a model that a run saved, which says which run that was.

A folder of weights is copied, renamed and published, and nothing in it says where it came from. The mark goes along.
It is the one file that we write outside of our own folders, so it is small, whole or not there at all, never in the
place of somebody else's file, and never in a folder that is more than a model's.

Source: DESIGN §8 (whence); Trainer's rotation, resumption and upload take or leave further files (tried, 5.24).
Blind to: whether the files beside it are still those that were saved; only the run's record says that.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from affidavit.attach.launch import Launch
from affidavit.attach.moment import Written
from affidavit.fact import VERSION
from affidavit.fact.folder import MARK, SETTINGS

FORMAT = 1
FOLDERS = ("checkpoint", "pretrained", "adapter", "state")
"""The forms of a folder that a framework saved a model into."""
LEFT = "left"
BYTES = 4096
"""A mark is a few hundred bytes; a larger file of that name is somebody else's."""
_NO_MODELS_OWN = (".git", SETTINGS, "pyproject.toml", "setup.py")
"""Beside one of these lies a project, whatever else was saved there."""


def leave(moment: Written, launch: Launch, *, step: int, now: float) -> str:
    """Return "left" once the mark is there, or why it is not; raises nothing."""
    if not launch.marks:
        return "switched off"
    if launch.mode != "run":
        return launch.mode
    if moment.form not in FOLDERS:
        return "one file"
    try:
        return _leave(Path(moment.path), _said(launch, step, now))
    except (OSError, ValueError) as error:
        return type(error).__name__


def is_ours(raw: bytes) -> bool:
    """Say whether a file under the name of a mark is one."""
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and all(isinstance(said.get(key), str) for key in ("affidavit", "run", "time"))


def _said(launch: Launch, step: int, now: float) -> bytes:
    said = {
        "format": FORMAT,
        "affidavit": VERSION,
        "run": launch.run,
        "attempt": launch.attempt,
        "recipe": launch.recipe,
        "step": step,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
        "commit": launch.commit,
        "tree": launch.tree,
    }
    return json.dumps(said, indent=1).encode() + b"\n"


def _leave(folder: Path, raw: bytes) -> str:
    if folder.resolve() == Path.cwd():
        return "the working directory"
    if any(os.path.lexists(folder / name) for name in _NO_MODELS_OWN):
        return "a project's folder"
    path = folder / MARK
    if os.path.lexists(path) and not is_ours(_read(path)):
        return f"{MARK} is somebody else's"
    part = folder / f".{MARK}.{os.getpid()}"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        try:
            if os.write(descriptor, raw) != len(raw):
                raise OSError("the disk is full")
        finally:
            os.close(descriptor)
        part.replace(path)
    except OSError:
        part.unlink()
        raise
    return LEFT


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(descriptor, BYTES)
    finally:
        os.close(descriptor)
