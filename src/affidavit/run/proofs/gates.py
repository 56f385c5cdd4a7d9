"""A gate of the project's own is proved: it says yes to the tree as it is, and no to a copy with a fault planted in it.

A gate that fails anyway proves nothing by failing, and a fault that changes nothing is none: neither is a proof.

Source: playbook §4.6. Blind to: whether the planted fault is the one that will happen.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from affidavit.observe import git
from affidavit.observe.error import ObserveError
from affidavit.record.declared import Gate
from affidavit.record.ledger import unreadable
from affidavit.run.proofs import files, words
from affidavit.run.proofs.copied import CopyError, copied
from affidavit.run.proofs.shell import Said, run

KIND = "gate"
_PATH = re.compile(r"[\w./-]{1,400}")
PROVED, INERT, ERROR = "PROVED", "INERT", "ERROR"


@dataclass(frozen=True, kw_only=True)
class Proved:
    """What came of one attempt to prove a gate."""

    word: str
    why: str
    seconds: float


def hangs_on(gate: Gate, root: Path) -> dict[str, str]:
    """Return the digests that a proof of a gate hangs on: of its two lines, and of the files it covers."""
    lines = {name: hashlib.sha256(line.encode()).hexdigest() for name, line in _lines(gate)}
    return lines | files.digests(root, files.matching(root, gate.covers) if gate.covers else _named(gate, root))


def prove(
    gate: Gate,
    root: Path,
    environment: Mapping[str, str],
    *,
    own: tuple[Path, ...] = (),
    most_seconds: float | None = None,
) -> Proved:
    """Return what a gate says of a copy of the tree before and after its own sabotage; the tree itself is only read."""
    limit = gate.seconds if most_seconds is None else min(gate.seconds, most_seconds)
    named = next((name for name, line in _lines(gate) if str(root) in line), "")
    if named and root != Path(root.anchor):
        return Proved(word=ERROR, why=f"the {named} names the tree itself ({root}); write it relative", seconds=0.0)
    if unread := unreadable(hangs_on(gate, root)):
        return Proved(word=ERROR, why=unread, seconds=0.0)
    before = files.signature(root, files.held(root, gate.covers))
    try:
        found = _proved(gate, root, environment, own, limit)
    except CopyError as error:
        return Proved(word=ERROR, why=str(error), seconds=0.0)
    after = files.signature(root, files.held(root, gate.covers))
    touched = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    if touched:
        why = f"{touched[0]} of the tree itself changed while the gate was proved on a copy"
        return Proved(word=ERROR, why=why, seconds=found.seconds)
    return found


def answer(gate: Gate, root: Path, environment: Mapping[str, str]) -> Said:
    """Return what a gate says of the tree as it lies there."""
    kept = {name: value for name, value in environment.items() if not name.startswith("AFFIDAVIT_")}
    return run(gate.command, folder=root, environment=kept | {"PYTHONDONTWRITEBYTECODE": "1"}, seconds=gate.seconds)


def _proved(gate: Gate, root: Path, environment: Mapping[str, str], own: tuple[Path, ...], limit: float) -> Proved:
    with copied(root, environment, own, gate.covers) as copy:
        clean = run(gate.command, folder=copy.folder, environment=copy.environment, seconds=limit)
    if not clean.is_yes:
        why = f"it fails on a copy of the tree as it is: {clean.why}{_left_out(gate, root, clean.tail)}"
        return Proved(word=ERROR, why=why, seconds=clean.seconds)
    with copied(root, environment, own, gate.covers) as copy:  # another: what the first left must not answer
        before = files.signature(copy.folder, files.walked(copy.folder))
        repository = _repository(copy.folder)
        planted = run(gate.sabotage, folder=copy.folder, environment=copy.environment, seconds=limit)
        took = clean.seconds + planted.seconds
        if not planted.is_yes:
            return Proved(word=ERROR, why=f"the sabotage was not planted: {planted.why}", seconds=took)
        after = files.signature(copy.folder, files.walked(copy.folder))
        changed = files.changed(before, after, copy.folder, root)
        if own_code := sorted(words.programs(gate.command) & set(changed)):
            why = f"the sabotage changes the gate itself ({own_code[0]}), so a no would prove nothing"
            return Proved(word=ERROR, why=why, seconds=took)
        if not changed and _repository(copy.folder) == repository:
            return Proved(word=ERROR, why="the sabotage changes nothing", seconds=took)
        said = run(gate.command, folder=copy.folder, environment=copy.environment, seconds=limit)
    took += said.seconds
    if said.is_no:
        return Proved(word=PROVED, why=said.why, seconds=took)
    if said.unrun:
        return Proved(word=ERROR, why=f"it said neither yes nor no to the planted fault: {said.why}", seconds=took)
    return Proved(word=INERT, why="it says yes with the fault planted", seconds=took)


def _lines(gate: Gate) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("command", gate.command), ("sabotage", gate.sabotage)


def _repository(folder: Path) -> tuple[bytes, ...]:
    """Return what git says of a copy: a fault may be planted in the index, or in a commit, alone."""
    asked = (("status", "--porcelain", "-z"), ("for-each-ref",), ("symbolic-ref", "--quiet", "HEAD"))
    try:
        return tuple(git.ask(folder, *words, accept=(0, 1)).stdout for words in asked)
    except ObserveError:
        return ()


def _left_out(gate: Gate, root: Path, printed: str) -> str:
    """Return which file a gate may have missed in the copy: one that it names, that is there, and that git ignores."""
    there = set(files.held(root, gate.covers))
    named = (*words.paths(gate.command), *words.paths(gate.sabotage), *map(os.path.normpath, _PATH.findall(printed)))
    missing = (path for path in named if path not in there and files.is_plain(root / path))
    name = next((path for path in missing if not Path(path).is_absolute() and ".." not in Path(path).parts), "")
    return f"; git ignores {name}; name it in covers" if name else ""


def _named(gate: Gate, root: Path) -> tuple[str, ...]:
    """Return the files of the tree that the two lines of a gate name: as words, or as the module after ``-m``."""
    names = set(files.listed(root))
    found: dict[str, None] = {}
    for _, line in _lines(gate):
        for path in words.paths(line):
            found |= dict.fromkeys(name for name in names if name == path or name.startswith(f"{path}/"))
    return tuple(sorted(found))
