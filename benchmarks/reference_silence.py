"""What the reading of references says of public documentation, each finding held against what a person read there.

python benchmarks/reference_silence.py --checkouts CLONES

The repositories are those of reference_silence.toml, from CLONES/<owner>+<name>, whole work trees at the commit that
stands there. Every finding was followed by hand; those that lead somewhere after all are listed there as false. A
finding that was never read is counted as such, and none may be left.

Blind to: references that were missed; numbers of sections, as these repositories hardly use them.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import time
from pathlib import Path

import tomllib
from measuring import write

from affidavit.lint.files import documents
from affidavit.lint.references import read_moved, read_references

LIST = Path(__file__).with_name("reference_silence.toml")
REPOSITORIES = 10
"""Fewer than these would prove nothing."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkouts", type=Path, required=True)
    asked = parser.parse_args()
    chosen = tomllib.loads(LIST.read_text())["repository"]
    counts = dict.fromkeys(("documents", "references", "broken", "moved", "false", "unread"), 0.0)
    raw: dict[str, object] = {}
    seconds = 0.0
    for one in chosen:
        root = (asked.checkouts / one["name"].replace("/", "+")).resolve()
        at = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        assert at.stdout.strip() == one["commit"], f"{one['name']} stands at {at.stdout.strip()}"
        paths = documents([root])
        started = time.process_time()
        found = read_references(paths)
        seconds += time.process_time() - started
        moved = read_moved(found)
        told = [f"{row.reference.path.relative_to(root)}: {row.reference.text}" for row in (*found.broken, *moved)]
        false = [row for row in told if row in one.get("false", ())]
        is_read = digest(told) == one["findings"]
        counts["documents"] += found.documents
        counts["references"] += len(found.read)
        counts["broken"] += len(found.broken)
        counts["moved"] += len(moved)
        counts["false"] += len(false)
        counts["unread"] += 0 if is_read else len(told)
        raw[one["name"]] = {"documents": found.documents, "told": told, "false": false, "findings": digest(told)}
    assert len(chosen) >= REPOSITORIES, "too little to prove anything"
    return write(
        "reference_silence",
        promised={"unread": 0.0, "false": 6.0, "cpu_seconds": 5.0},
        found={"repositories": float(len(chosen)), **counts, "cpu_seconds": seconds},
        raw=raw,
    )


def digest(told: list[str]) -> str:
    """Name the findings that were read: another one, and they have to be read again."""
    return hashlib.sha256("\n".join(sorted(told)).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
