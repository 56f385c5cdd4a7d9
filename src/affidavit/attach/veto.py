"""The write veto of a rehearsal: what existed before stays as it was, and each attempt to change it is listed.

A rehearsed script is the user's own, with its ``save_model``, its ``rmtree(output)`` and its log files. A removal is
left undone, a write goes to a scratch copy, so that the script goes on; what slips past both (an audit event without a
wrapper here) is refused with PermissionError. New files are the script's to make.

Only rehearsals load this. Source: critic-practitioner §1 "Rehearsal safety".
Blind to: native writers without an audit event (safetensors and torch.save are covered by their adapters), other
hosts, buckets and hubs. W&B and Comet are told by their own switch to keep to themselves.
"""

from __future__ import annotations

import builtins
import functools
import io
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_REMOVERS = ("remove", "unlink", "rmdir", "truncate")
_MOVERS = ("rename", "replace")
_DISABLED = {"WANDB_MODE": "disabled", "COMET_MODE": "disabled"}
VETOES = "vetoes"
"""The file beside the launch file that lists what was vetoed, a line each."""

_active: Veto | None = None


class Veto:
    """Keeps every path that existed before the rehearsal as it was."""

    def __init__(self, scratch: Path, note: Callable[[str], None]) -> None:
        self.scratch = scratch
        self._note = note
        self._made: set[str] = set()
        self._said: set[str] = set()
        self._inside = False
        free = ("/dev", "/proc", "/sys", str(scratch.parent), *_caches())
        self._free = tuple(place.rstrip("/") + "/" for place in free if place)

    def install(self) -> None:
        """Put the wrappers in place and switch the audit on; neither can be taken back in this process."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        builtins.open = io.open = self._opening(io.open)
        shutil.rmtree = self._left_undone(shutil.rmtree, "remove")  # type: ignore[assignment]
        for name in _REMOVERS:
            setattr(os, name, self._left_undone(getattr(os, name), name))
        for name in _MOVERS:
            setattr(os, name, self._not_moved(getattr(os, name), name))
        sys.addaudithook(self._audit)

    def protects(self, path: object, folder: object = None) -> bool:
        """Say whether a path existed before the rehearsal and is not ours or a cache's to change."""
        full = _full(path, folder)
        if not full or full in self._made or full.startswith(self._free) or "/__pycache__/" in full:
            return False
        return os.path.lexists(full)

    def redirected(self, path: object) -> str:
        """Return the scratch copy that stands in for a protected file."""
        full = _full(path, None)
        target = self.scratch / full.replace("/", "_")
        if not target.exists() and Path(full).is_file():
            self._inside = True
            try:
                shutil.copyfile(full, target)
            finally:
                self._inside = False
        self.refuse("write", full)
        return str(target)

    def redirecting(self, write: Callable[..., Any], *, place: int, name: str) -> Callable[..., Any]:
        """Return a native writer whose target is a scratch copy where its path is protected.

        Args:
            place: of the target among the positional arguments; ``name`` is what it is called as a keyword.
        """

        @functools.wraps(write)
        def written(*args: Any, **kwargs: Any) -> Any:
            if name in kwargs and self.protects(kwargs[name]):
                kwargs[name] = self.redirected(kwargs[name])
            elif len(args) > place and self.protects(args[place]):
                args = (*args[:place], self.redirected(args[place]), *args[place + 1 :])
            return write(*args, **kwargs)

        return written

    def refuse(self, verb: str, path: object) -> None:
        """List an attempt, once."""
        said = f"rehearsal: vetoed {verb} {path}"
        if said not in self._said:
            self._said.add(said)
            self._note(said)

    def _opening(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def opening(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if isinstance(file, (str, bytes, os.PathLike)) and set(mode) & set("wax+"):
                if self.protects(file):
                    file = self.redirected(file)
                else:
                    self._made.add(_full(file, None))
            return real(file, mode, *args, **kwargs)

        return opening

    def _left_undone(self, real: Callable[..., Any], verb: str) -> Callable[..., Any]:
        @functools.wraps(real)
        def change(path: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._inside and self.protects(path, kwargs.get("dir_fd")):
                self.refuse(verb, _full(path, kwargs.get("dir_fd")))
                return None
            return real(path, *args, **kwargs)

        return change

    def _not_moved(self, real: Callable[..., Any], verb: str) -> Callable[..., Any]:
        @functools.wraps(real)
        def move(source: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
            for path in (source, target):
                if self.protects(path):
                    self.refuse(verb, _full(path, None))
                    return None
            self._made.add(_full(target, None))
            return real(source, target, *args, **kwargs)

        return move

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if self._inside or event not in ("open", "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.mkdir"):
            return
        path = args[0]
        if event == "os.mkdir":
            self._made.add(_full(path, None))
        elif event == "open":
            flags = args[2] if isinstance(args[2], int) else 0
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_TRUNC | os.O_CREAT) and isinstance(path, (str, bytes)):
                self._refuse_or_remember(path, None, "write")
        else:
            folder = args[-1] if isinstance(args[-1], int) else None
            self._refuse_or_remember(path, folder, event)

    def _refuse_or_remember(self, path: Any, folder: Any, verb: str) -> None:
        if self.protects(path, folder):
            self.refuse(verb, _full(path, folder))
            raise PermissionError(f"affidavit rehearsal: {path} existed before and stays as it was")
        self._made.add(_full(path, folder))


def rehearse(spool: Path) -> None:
    """Protect this process's files from its own script, and keep known trackers to themselves."""
    global _active
    listing = spool / VETOES
    real_open = io.open

    def note(said: str) -> None:
        with real_open(listing, "a") as file:
            file.write(said + "\n")

    _active = Veto(spool / "scratch", note)
    _active.install()
    for name, value in _DISABLED.items():
        os.environ.setdefault(name, value)


def active() -> Veto | None:
    """Return the veto of this process, for adapters of native writers; None outside of rehearsals."""
    return _active


def _caches() -> tuple[str, ...]:
    """Return places whose content is recomputed, never missed: a rehearsal may fill them."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return (
        home,
        os.environ.get("HF_HOME", ""),
        os.environ.get("TRITON_CACHE_DIR", ""),
        os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""),
    )


def _full(path: object, folder: object) -> str:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return ""
    name = os.fsdecode(path)
    if isinstance(folder, int) and folder >= 0 and not os.path.isabs(name):
        try:
            return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
        except OSError:
            return ""
    return os.path.abspath(name)
