"""Whether every decoy is called by its right name, round after round, and how long that takes.

python benchmarks/decoys.py [ROUNDS]

A round is ``affidavit drill --watch``: processes are killed, stopped, deadlocked, left as zombies and impersonated.
"""

from __future__ import annotations

import sys

from measuring import median, write

from affidavit.run.liveness.decoys import LIMIT_SECONDS, drill


def main() -> int:
    drilled = drill(rounds=int(sys.argv[1]) if sys.argv[1:] else 20)
    seconds: dict[str, list[float]] = {}
    for one in drilled.called:
        seconds.setdefault(one.name, []).append(round(one.seconds, 3))
    wrong = [f"{one.name}: {one.called.value}: {one.why}" for one in drilled.called if not one.is_right]
    return write(
        "decoys",
        promised={"called wrongly": 0, "slowest seconds": LIMIT_SECONDS, "not shown": 0},
        found={
            "rounds": max(map(len, seconds.values())),
            "decoys": len(drilled.called),
            "called wrongly": len(wrong),
            "not shown": len(drilled.unshown),
            "slowest seconds": max(map(max, seconds.values())),
            **{f"median seconds, {name}": median(taken) for name, taken in seconds.items()},
        },
        raw={"seconds": seconds, "wrong": wrong, "unshown": list(drilled.unshown)},
    )


if __name__ == "__main__":
    sys.exit(main())
