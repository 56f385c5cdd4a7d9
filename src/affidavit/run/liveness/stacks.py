"""Where a run hangs: the stacks of its processes, kept as evidence while they still hang.

py-spy reads another process's memory and pauses nothing (``--nonblocking``): a process that stands still looks the same
to whoever does not stop it, and one that does not must not be stopped by us. Local variables are not read: they hold
the user's data.

Source: py-spy 0.4 (``dump --json``); ptrace(2), "Ptrace access mode checking".
Blind to: processes on other hosts and in other containers; a stack in native code, of which Python's side is shown.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.record import file
from affidavit.run.liveness.evidence import Rank
from affidavit.run.process import State

TOOL = "py-spy"
SECONDS = 20.0
"""How long one dump may take; its symbols are read from disk, and a run that hangs may hang on just that disk."""
_HINT = 'a script that calls faulthandler.register(signal.SIGUSR1) shows its stacks on "kill -USR1 {pid}"'


@dataclass(frozen=True, kw_only=True)
class Stacks:
    """The stacks of one rank: where they are kept and what is innermost in its main thread, or why there are none."""

    rank: int
    pid: int
    path: str = ""
    innermost: str = ""
    why: str = ""

    @property
    def words(self) -> str:
        if self.path:
            return f"rank {self.rank} is in {self.innermost}; all its stacks: {self.path}"
        return f"no stacks of rank {self.rank}: {self.why}; {_HINT.format(pid=self.pid)}"


def keep(folder: Path, attempt: int, ranks: Iterable[Rank], *, stamp: str) -> tuple[Stacks, ...]:
    """Keep the stacks of every rank that can be looked up from here in the run folder; raise nothing."""
    tool = shutil.which(TOOL)
    return tuple(_kept(folder, f"{attempt}.{one.rank}.{one.pid}.{stamp}.json", one, tool) for one in ranks)


def _kept(folder: Path, name: str, one: Rank, tool: str | None) -> Stacks:
    if one.state is State.ELSEWHERE:
        return Stacks(rank=one.rank, pid=one.pid, why=f"it is {one.state.value}")
    if tool is None:
        return Stacks(rank=one.rank, pid=one.pid, why=f'{TOOL} is not on PATH (pip install "affidavit[watch]")')
    place = folder / names.STACKS / name
    try:
        raw = _dumped(tool, one.pid)
        innermost = _innermost(json.loads(raw), one.pid)
        place.parent.mkdir(exist_ok=True)
        file.replace(place, raw)
    except (OSError, ValueError, subprocess.SubprocessError, _DumpError) as error:
        return Stacks(rank=one.rank, pid=one.pid, why=f"{TOOL}: {error}")
    return Stacks(rank=one.rank, pid=one.pid, path=str(place.relative_to(folder)), innermost=innermost)


class _DumpError(Exception):
    """The tool could not read the process."""


def _dumped(tool: str, pid: int) -> bytes:
    words = [tool, "dump", "--json", "--nonblocking", "--pid", str(pid)]
    ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise _DumpError(said[0].removeprefix("Error: ") if said else f"exit code {ended.returncode}")
    return ended.stdout


def _innermost(dump: object, pid: int) -> str:
    """Return the innermost frame of the main thread: the one whose number is that of the process, else the last."""
    threads = [one for one in dump if isinstance(one, dict)] if isinstance(dump, list) else []
    main = [one for one in threads if one.get("thread_name") == "MainThread" or one.get("os_thread_id") == pid]
    for thread in [*main, *reversed(threads)]:
        frames = thread.get("frames")
        if isinstance(frames, list) and frames and isinstance(frames[0], dict):
            frame = frames[0]
            return f"{frame.get('name')} ({frame.get('short_filename') or frame.get('filename')}:{frame.get('line')})"
    raise _DumpError("it saw no frame of Python")
