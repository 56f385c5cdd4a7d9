"""The tree gate: what the command will run is held by a commit, by a snapshot, or by somebody's reason.

It reads; the one thing it writes, and only where it is told to, is a commit under a ref of ours that nothing of the
user's points to. Without git, or where git refuses, it lets the command go and says that nobody knows.

Source: playbook §4.4.
Blind to: imports by name at run time, which the inside half lists; what a shell script starts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.fact.errors import refusal
from affidavit.fact.observation import Cause, Known, State, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Table
from affidavit.observe.code import identify
from affidavit.observe.error import ObserveError
from affidavit.observe.identity import LoadedFile
from affidavit.observe.owner import OwnerKind
from affidavit.observe.repository import read
from affidavit.observe.snapshot import Snapshot, take
from affidavit.observe.stamp import NAME
from affidavit.observe.tree import TreeReport, TreeState, examine
from affidavit.record.record import Fact
from affidavit.run.code import MOVED, ROWS_SHOWN, shown
from affidavit.run.command import Command
from affidavit.run.reach import Reach, reach

SHOWN = 3
KEPT = "snapshot "
"""How the value of ``tree.gate`` begins where a snapshot holds what deviates."""


@dataclass(frozen=True, kw_only=True)
class GateAnswer:
    """Whether the command may start, the facts for the record, and what a person is told.

    ``refusal`` is the whole message where it may not, "" where it may; ``lines`` say what is dirty and does not matter.
    """

    facts: tuple[Fact, ...]
    lines: tuple[str, ...]
    refusal: str = ""

    @property
    def proceeds(self) -> bool:
        return not self.refusal


def examine_tree(
    command: Command,
    *,
    project: Path,
    environment: Mapping[str, str],
    gate: str,
    reason: str = "",
    run: str = "",
    reached: Reach | None = None,
) -> GateAnswer:
    """Return what the tree gate says of a command, before it starts.

    Args:
        project: the folder of first-party code; its repository gives the commit.
        environment: of the command, before anything of ours is in it.
        gate: ``refuse``, ``snapshot`` or ``allow``; the last has a ``reason``.
        run: what the snapshot's ref is called by.
        reached: what the command reaches, where somebody found it already.
    """
    try:
        report = _examine(command, project, reached or reach(command, environment))
    except ObserveError as error:
        return _blind(error, gate, reason)
    deviations = _deviations(report, project)
    deviates = isinstance(deviations, Known) and isinstance(deviations.value, Table) and bool(deviations.value.rows)
    # a snapshot that kept nothing vouches for nothing that the run loads later
    told = {"allow": f"allow: {reason}", "snapshot": "snapshot: nothing to keep"}.get(gate, gate)
    refused = ""
    extra: tuple[str, ...] = ()
    if deviates and gate == "snapshot":
        told, refused, extra = _keep(report, project, run)
    elif deviates and gate == "refuse":
        refused = _refusal(report, project)
    source = "import statements and named configs, against their owners"
    states: dict[str, State] = {
        "tree.commit": _commit(report, project),
        "tree.files_examined": Known(report.examined, Method.INSPECTED, source),
        "tree.deviations": deviations,
        "tree.bystanders": _bystanders(report),
        "tree.gate": Known(told, Method.DECLARED, "affidavit.toml or --tree"),
    }
    facts = tuple(Fact(name=name, state=state) for name, state in states.items())
    return GateAnswer(facts=facts, lines=(*extra, *_lines(report, project)), refusal=refused)


def _examine(command: Command, project: Path, reached: Reach) -> TreeReport:
    files = [LoadedFile(path=path) for path in (*reached.files, *command.configs)]
    code = identify(files, reached.interpreter)
    closure = reached.closure
    return examine(code, project, not_scanned=closure.not_scanned, dynamic=closure.dynamic)


def _blind(error: ObserveError, gate: str, reason: str) -> GateAnswer:
    """Let the command go where not even its files could be found, and say so of every fact."""
    why = _first_line(str(error))
    names = ("tree.commit", "tree.files_examined", "tree.deviations", "tree.bystanders")
    facts = [Fact(name=name, state=Unknown(Cause.INSTRUMENT_FAILED, why)) for name in names]
    told = f"allow: {reason}" if gate == "allow" else gate
    facts.append(Fact(name="tree.gate", state=Known(told, Method.DECLARED, "affidavit.toml or --tree")))
    return GateAnswer(facts=tuple(facts), lines=(f"tree: {why}",))


def _commit(report: TreeReport, project: Path) -> State:
    if report.stamp is not None:
        return Known(report.stamp.commit, Method.INSPECTED, f"{NAME}, made where git was")
    if report.home is not None:
        return Known(report.home.commit or "unborn", Method.INSPECTED, "git rev-parse HEAD")
    if report.state is TreeState.NO_REPOSITORY:
        return Known("no repository", Method.INSPECTED, f"no .git at or above {project}")
    if report.state is TreeState.STAMP_REFUSED:
        return Unknown(Cause.EVIDENCE_LOST, _first_line(report.why))
    return Unknown(Cause.GIT_REFUSED, _first_line(report.why))


def _deviations(report: TreeReport, project: Path) -> State:
    """Return the files that deviate, or why nobody can say which do; a file that was not judged is not clean."""
    if report.state in (TreeState.REFUSED, TreeState.NO_GIT):
        return Unknown(Cause.GIT_REFUSED, _first_line(report.why))
    if report.state is TreeState.STAMP_REFUSED:
        return Unknown(Cause.EVIDENCE_LOST, _first_line(report.why))
    in_repositories = any(file.owner.kind is OwnerKind.REPOSITORY for file in report.sites)
    if report.state is TreeState.NO_REPOSITORY and not in_repositories:
        return Unknown(Cause.NO_REPOSITORY, _first_line(report.why))
    rows = [(shown(file.path, project), file.verdict.value) for file in report.sites]
    rows += [(shown(moved.top, project), MOVED) for moved in report.moved]
    if not rows and (report.undetermined or report.refusals):
        why = report.refusals[0].why if report.refusals else report.undetermined[0].detail
        return Unknown(Cause.GIT_REFUSED, _first_line(why))
    if not rows and report.not_scanned:
        spot = report.not_scanned[0]
        return Unknown(Cause.INSTRUMENT_FAILED, f"{shown(spot.path, project)} could not be read: {spot.text}")
    if len(rows) > ROWS_SHOWN:
        rows = [*rows[:ROWS_SHOWN], (f"and {len(rows) - ROWS_SHOWN} more", "")]
    source = f"{report.examined} files against their owners"
    return Known(Table(("path", "verdict"), tuple(rows)), Method.INSPECTED, source)


def _bystanders(report: TreeReport) -> State:
    if report.state is TreeState.STAMPED:
        return Unknown(Cause.NO_REPOSITORY, "a stamp says what is held by a commit, and not what changed beside it")
    if report.state is TreeState.NO_REPOSITORY:
        return Unknown(Cause.NO_REPOSITORY, _first_line(report.why))
    if report.why and report.state is not TreeState.UNBORN:
        return Unknown(Cause.GIT_REFUSED, _first_line(report.why))
    paths = tuple(line.path for line in report.benign)
    if len(paths) > ROWS_SHOWN:
        paths = (*paths[:ROWS_SHOWN], f"and {len(paths) - ROWS_SHOWN} more")
    return Known(paths, Method.INSPECTED, "git status")


def _lines(report: TreeReport, project: Path) -> tuple[str, ...]:
    """Return one line for each thing that is dirty and does not matter, and for what only the run can show."""
    found = list(map(str, report.benign))
    home = report.home
    if report.stamp is not None:
        found.append(f"tree: no git here; held against the stamp of {report.stamp.project}@{report.stamp.commit[:12]}")
        dirty = report.stamp.dirty
        found += [f"tree: {len(dirty)} files were dirty when it was made ({dirty[0]} …)"] if dirty else []
    if home is not None:
        changed = (line.path for line in home.status or () if home.top / line.path in report.own)
        found += [f"{path}: changed, Affidavit's own; not part of this run" for path in changed]
    elif report.why:
        found.append(f"tree: {_first_line(report.why)}")
    if report.dynamic:
        spot = report.dynamic[0]
        place = f"{shown(spot.path, project)}:{spot.line}"
        found.append(f"{len(report.dynamic)} imports are decided at run time ({place} …) and judged then")
    return tuple(found)


def _keep(report: TreeReport, project: Path, run: str) -> tuple[str, str, tuple[str, ...]]:
    """Keep what deviates in a snapshot of each repository; return the gate, a refusal or "", and lines.

    A file that will run and cannot be kept stops the command: the one thing a snapshot is for would be missing.
    """
    kept: dict[Path, Snapshot] = {}
    missing = [f"{shown(file.path, project)} (in no repository)" for file in report.sites if file.owner.folder is None]
    lines: list[str] = []
    tops = {file.owner.folder for file in report.sites if file.owner.folder is not None}
    for top in sorted(tops, key=lambda top: (not project.is_relative_to(top), top)):  # the project's own comes first
        running = {file.owner.path: file.real for file in report.sites if file.owner.folder == top}
        try:
            snapshot = take(read(top), tuple(running.values()), run)
        except ObserveError as error:
            missing.append(f"{shown(top, project)} ({_first_line(str(error))})")
            continue
        kept[top] = snapshot
        out = [(one, f"{one.path} ({one.why})") for one in snapshot.refused]
        missing += [said for one, said in out if one.path in running]
        lines += [f"not in the snapshot: {said}" for one, said in out if one.path not in running]
    if missing or not kept:
        return "refuse", _unkept(missing), tuple(lines)
    home = project.resolve()
    where = {top: "" if home.is_relative_to(top) else f" in {top}" for top in kept}
    said = [
        f"kept as {one.ref}{where[top]} ({one.commit[:12]}, {len(one.kept)} files); it is not the commit it stands on"
        for top, one in kept.items()
    ]
    gate = "".join(f" {one.commit}" if not where[top] else f"; {one.commit}{where[top]}" for top, one in kept.items())
    return f"{KEPT}{next(iter(kept.values())).ref}{gate}", "", (*said, *lines)


def described(facts: Sequence[Fact]) -> tuple[str, str]:
    """Return the commit that the tree stands on and whether it holds all that will run, for a mark; "" for neither."""
    known = {fact.name: fact.state.value for fact in facts if isinstance(fact.state, Known)}
    commit, deviations = str(known.get("tree.commit", "")), known.get("tree.deviations")
    if not re.fullmatch(r"[0-9a-f]{40,64}", commit):
        return "", ""
    if not isinstance(deviations, Table):
        return commit, ""
    return commit, "changed since" if deviations.rows else "as committed"


def kept_commits(gate: str, home: Path | None) -> dict[Path, str]:
    """Return, for each repository of which the tree gate kept a snapshot, the commit that holds it.

    Args:
        gate: the value of ``tree.gate``.
        home: the repository of the project.
    """
    if not gate.startswith(KEPT):
        return {}
    own = re.match(rf"{KEPT}\S+ ([0-9a-f]{{40,64}})(?=;|$)", gate)
    others = re.findall(r"; ([0-9a-f]{40,64}) in (.+?)(?=; [0-9a-f]{40}|$)", gate)
    found = {Path(top): commit for commit, top in others}
    return {**found, home: own[1]} if own and home is not None else found


def _refusal(report: TreeReport, project: Path) -> str:
    said = [f"{shown(file.path, project)} ({file.verdict.value})" for file in report.sites]
    said += [f"{shown(moved.top, project)} ({MOVED})" for moved in report.moved]
    more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    return refusal(
        subject="tree",
        expected="every file that the command runs or reads held by a commit (tree gate: refuse)",
        saw=", ".join(said[:SHOWN]) + f"{more} (bytes on disk)",
        means="The commit on the record would describe code that did not run, so the command was not started.",
        action='Commit, or run with "--tree snapshot", or with "--tree allow --reason TEXT".',
        unaffected="index, HEAD, branches, stash and work tree; nothing was written there",
    )


def _unkept(missing: list[str]) -> str:
    return refusal(
        subject="tree",
        expected="a snapshot that holds every file the command runs or reads (tree gate: snapshot)",
        saw=f"no way to keep {', '.join(missing) or 'a submodule at another commit'}",
        means="Nobody could say later what ran, so the command was not started.",
        action='Commit it, or run with "--tree allow --reason TEXT".',
        unaffected="index, HEAD, branches, stash and work tree",
    )


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]
