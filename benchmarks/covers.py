"""What each benchmark measures: the functions after which its numbers are stale, once one of them has changed.

It is read when a benchmark writes its results, and by the contract that holds the numbers of our own pages. A benchmark
that measures all of the house names where the work is done, not whatever is called on the way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_HOUSE = "src/affidavit/"
_COVERS: Mapping[str, tuple[str, ...]] = {
    "annotations": ("record/chain.py:walk", "record/chain.py:append", "record/fold.py:read_record"),
    "attach_cost": ("attach/site/sitecustomize.py", "attach/early.py:start", "attach/early.py:Finder"),
    "cache_build": ("cache/encoding/encode.py:encode", "cache/encoding/work.py:Work"),
    "cache_canary": ("cache/canary/__init__.py:examine", "checks/cache_canary.py:cache_canary"),
    "cache_hit": ("cache/encoding/encode.py:encode", "cache/encoding/hit.py:masked_first"),
    "claims_cost": ("claims/copies/finder.py:copies", "claims/copies/sieve.py:Sieve"),
    "claims_silence": ("claims/copies/finder.py:copies", "claims/quantity/reader.py:quantities"),
    "command_cost": ("cli/main.py:Verbs", "cli/main.py:main", "cli/doctor.py:command"),
    "decoys": ("run/liveness/decoys.py:drill", "run/liveness/look.py:Watcher", "run/liveness/verdict.py:judge"),
    "first_screen": ("demo/scripts/user_turns_lit.py", "run/supervise.py:supervise", "run/companion.py:Companion"),
    "first_verdict": ("run/outset.py:examine", "cli/observed.py:Observed"),
    "gate_lint": ("lint/gates/reading.py:read_gates", "lint/gates/fate.py:lot", "lint/gates/known.py:is_gate"),
    "guard_cost": ("mutation/swap.py:armed", "pytest_plugin/drill.py:ask"),
    "lint_cost": ("lint/project.py:lint", "lint/files.py:gather", "lint/diff.py:hold"),
    "lint_silence": ("lint/project.py:lint", "lint/diff.py:hold"),
    "reference_silence": ("lint/references/reading.py:read_references", "lint/references/headings.py:document"),
    "report_open": ("report/page/markup.py:render", "report/page/share.py:shared"),
    "run_cost": (
        "run/supervise.py:supervise",
        "run/sealing.py:ensure_sealed",
        "attach/session.py:Session",
        "attach/seat.py:Seat",
    ),
    "silence": ("check/engine.py:judge", "check/engine.py:run"),
    "step_cost": ("attach/session.py:Session", "attach/lookout.py:Lookout", "attach/heartbeat.py:Heartbeat"),
    "tracker_states": ("run/ending.py:ending", "run/sealing.py:ensure_sealed"),
}
_UNITS = {
    "rows_per_second": "rows/s",
    "seconds": "s",
    "milliseconds": "ms",
    "microseconds": "µs",
    "bytes": "bytes",
    "megabytes": "MB",
    "rows": "rows",
}
"""The units of keys, by the word that says them; "seconds_of_map" is a ratio."""


def covers(name: str) -> tuple[str, ...]:
    """Return what a benchmark measures; nothing where nobody said."""
    return tuple(f"{_HOUSE}{target}" for target in _COVERS.get(name, ()))


def claim_of(name: str, key: str) -> tuple[str, str]:
    """Return the id and the unit of one number of a benchmark.

    >>> claim_of("first_screen", "all_seconds"), claim_of("guard_cost", "milliseconds_per_disarm")
    (('first-screen-all', 's'), ('guard-cost-per-disarm', 'ms'))
    """
    words = re.sub(r"[^a-z0-9]+", "_", key.lower()).strip("_")
    for said, unit in _UNITS.items():
        found = re.search(rf"(^|_){said}(?:_(?!of_)|$)", words)
        bare = words[: found.start()] + found[1] + words[found.end() :] if found else ""
        if bare.strip("_"):
            return f"{name}-{bare.strip('_')}".replace("_", "-"), unit
    return f"{name}-{words}".replace("_", "-"), ""
