"""How often the kernel killed something of this control group for want of memory."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


def out_of_memory_kills(*, root: Path = ROOT, membership: Path = Path("/proc/self/cgroup")) -> int:
    """Return the count of out-of-memory kills in this control group and those below it; 0 where nobody counts.

    A process that was killed for memory and one that a person killed both end with signal 9; only the difference of
    this count before and after tells them apart.

    Source: the kernel's cgroup-v2 document (memory.events, oom_kill); memory.oom_control of version 1.
    Blind to: a kill in a control group that the command made beside ours, and a supervisor that was killed with it.
    """
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return 0
    places: list[Path] = []
    for line in lines:
        number, controllers, path = line.split(":", 2)
        inside = path.lstrip("/")
        if number == "0" and not controllers:
            places += [
                mount / folder / "memory.events" for mount in (root, root / "unified") for folder in (inside, "")
            ]
        elif "memory" in controllers.split(","):
            places += [root / "memory" / folder / "memory.oom_control" for folder in (inside, "")]
    return next((count for place in places if (count := _count(place)) is not None), 0)


def _count(place: Path) -> int | None:
    """Return the ``oom_kill`` line of a file; inside a container the path named is the host's, so it may not exist."""
    try:
        lines = place.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)
