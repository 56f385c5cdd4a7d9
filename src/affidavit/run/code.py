"""Whose the code is that ran: the outside half of code identity, from the lists that the ranks left as evidence.

Source: playbook §4.4; research/anchors-provenance §3.
Blind to: what :mod:`affidavit.observe.code` is blind to, and ranks whose list is lost, which make the facts Unknown.
"""

from __future__ import annotations

import os
import pwd
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from affidavit.fact.observation import Cause, Known, State, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Table, Tally
from affidavit.observe.code import CodeIdentity, identify
from affidavit.observe.identity import FileIdentity
from affidavit.observe.owner import OwnerKind
from affidavit.observe.tree import MovedSubmodule, moved_submodules
from affidavit.observe.verdict import FileVerdict
from affidavit.record.ranks import written
from affidavit.record.record import Fact, Record
from affidavit.run.listing import Listing, read_listing

LISTING = "code.listing"
RESOLVED = (
    "code.commit",
    "code.files_by_verdict",
    "code.deviations",
    "code.installed_by_record",
    "code.installed_deviations",
    "code.changed_on_disk",
)
ROWS_SHOWN = 60
"""So many deviating files fit into a fact; the rest is counted in its last row."""

WEIGHTS = ("*.safetensors", "*.gguf", "*.bin", "*.pt", "tokenizer.json")
"""Files whose folder is a model's, with configs that came with it."""

DEVIATING = frozenset(
    {
        FileVerdict.MODIFIED,
        FileVerdict.FILTER_HIDES,
        FileVerdict.NOT_IN_COMMIT,
        FileVerdict.CHANGED_SINCE,
        FileVerdict.NOT_IN_STAMP,
        FileVerdict.DIFFERS_FROM_STAMP,
        FileVerdict.DIFFERS_FROM_HUB,
        FileVerdict.ORPHAN,
    }
)

UNJUDGED = {
    FileVerdict.UNREADABLE: Cause.EVIDENCE_LOST,
    FileVerdict.GIT_REFUSED: Cause.GIT_REFUSED,
    FileVerdict.STAMP_REFUSED: Cause.EVIDENCE_LOST,
}
MOVED = "submodule at another commit"


def code_facts(
    record: Record,
    *,
    places: Sequence[Path],
    cwd: Path,
    project: Path,
    commits: Mapping[Path, str],
    named: frozenset[Path] = frozenset(),
) -> tuple[Fact, ...]:
    """Return what commits and distributions say of the code that ran, for the run as a whole.

    Args:
        record: it holds each rank's ``code.listing``.
        places: folders that may hold the evidence.
        cwd: of the command; a listed path may be relative to it.
        project: paths of deviations are shown relative to it.
        commits: repository → commit seen before the start, because HEAD can move while a run trains.
        named: configs that stand on the command line; these are the user's wherever they lie.
    """
    read = [read_listing(state, places, cwd) for state in dict.fromkeys(fact.state for fact in record.find(LISTING))]
    listings = [found for found in read if isinstance(found, Listing)]
    gap = next((found for found in read if isinstance(found, Unknown)), None) or _unseen(record)
    if gap is not None and not listings:
        return _all_unknown(gap)
    own = tuple(dict.fromkeys(file for listing in listings for file in listing.own))
    installed = tuple(dict.fromkeys(file for listing in listings for file in listing.installed))
    configs = frozenset[Path]().union(*(listing.configs for listing in listings))
    stood_on = {top: commit for listing in reversed(listings) for top, commit in listing.heads.items()}
    stood_on |= commits
    beside = tuple(dict.fromkeys(path.parent for path in sorted(configs)))
    code = identify((*own, *installed), listings[0].interpreter, commits=stood_on, beside=beside)
    # a snapshot's commit is nobody's submodule; the tree gate has looked at those that it kept
    moved, unanswered = moved_submodules([one for one in code.repositories if one.top not in commits], stood_on)
    data = {file.path for file in code.files if _is_data(file, configs - named)}
    mine = replace(
        code,
        files=tuple(file for file in code.files if file.path not in data),
        refusals=code.refusals + unanswered,
    )
    return _resolve(mine, {file.path for file in own}, moved, project, gap)


def _unseen(record: Record) -> Unknown | None:
    """Return why the lists that are there are not all, or None where every rank left one."""
    told = {rank for fact in record.find(LISTING) for rank in fact.ranks}
    missing = set(range(record.world)) - told
    if not told:
        return Unknown(Cause.ABSENT, "no process told which files it loaded")
    return (
        Unknown(Cause.RANK_MISSING, f"rank {written(missing)} did not tell which files it loaded") if missing else None
    )


def _all_unknown(state: Unknown) -> tuple[Fact, ...]:
    return tuple(Fact(name=name, state=state) for name in RESOLVED)


def _resolve(
    code: CodeIdentity, own: set[Path], moved: Sequence[MovedSubmodule], project: Path, gap: Unknown | None
) -> tuple[Fact, ...]:
    """Return the facts of the code; ``gap`` is why it may not be all of the code."""
    source = f"{len(code.files)} loaded files against their owners"
    installed = [file for file in code.files if file.owner.kind is OwnerKind.DISTRIBUTION]
    edited = [file for file in installed if file.verdict is FileVerdict.DIFFERS_FROM_RECORD]
    # the total of what is the project's stays what it was: an edited package is an installed one
    counts = Counter(FileVerdict.INSTALLED if file in edited else file.verdict for file in code.files)
    changed = tuple(shown(file.path, project) for file in code.files if file.sha256 and file.has_changed)
    states: dict[str, State] = {
        "code.commit": Known(", ".join(_commits(code)) or "no repository", Method.INSPECTED, "git"),
        "code.files_by_verdict": Known(_tally(counts), Method.INSPECTED, source),
        "code.deviations": _deviations(code, own, moved, project, source),
        "code.installed_by_record": Known(_by_record(installed), Method.INSPECTED, "RECORD of each distribution"),
        "code.installed_deviations": Known(
            deviations(edited, project), Method.INSPECTED, "RECORD of each distribution"
        ),
        "code.changed_on_disk": Known(_short(changed), Method.INSPECTED, "digests at load against the disk"),
    }
    if code.refusals:
        states["code.commit"] = states["code.deviations"]
    tables = (states[name] for name in ("code.deviations", "code.installed_deviations"))
    if gap is not None and not any(_has_rows(state) for state in tables):
        return _all_unknown(gap)  # what deviates does so whatever a rank that is missing would say
    return tuple(Fact(name=name, state=state) for name, state in states.items())


def _has_rows(state: State) -> bool:
    return isinstance(state, Known) and isinstance(state.value, Table) and bool(state.value.rows)


def _commits(code: CodeIdentity) -> list[str]:
    """Return the commit of each repository, and what stands for one: a stamp, a model's revision."""
    said = [f"{found.top.name}@{found.commit or 'unborn'}" for found in code.repositories]
    said += [f"{stamp.project}@{stamp.commit} (stamp)" for stamp in code.stamps]
    models = {str(file.owner): None for file in code.files if file.owner.kind is OwnerKind.HUB and file.owner.version}
    return [*said, *models]


def _tally(counts: Mapping[FileVerdict, int]) -> Tally:
    return Tally.count("files", {verdict.value: count for verdict, count in counts.items()})


def _by_record(installed: Iterable[FileIdentity]) -> Tally:
    """Return how many installed files are what their RECORD says; most of what conda or a system installs has none."""
    counts = Counter(
        {"unrecorded": 0, "as-recorded": 0, FileVerdict.DIFFERS_FROM_RECORD.value: 0},
    )
    for file in installed:
        if file.verdict is FileVerdict.DIFFERS_FROM_RECORD:
            counts[file.verdict.value] += 1
        elif (file.loaded_sha256 or file.sha256) in file.owner.digests:
            counts["as-recorded"] += 1
        else:
            counts["rewritten-since" if file.is_rewritten else "unrecorded"] += 1
    return Tally.count("files", counts)


def _short(paths: tuple[str, ...]) -> tuple[str, ...]:
    return paths if len(paths) <= ROWS_SHOWN else (*paths[:ROWS_SHOWN], f"and {len(paths) - ROWS_SHOWN} more")


def _deviations(
    code: CodeIdentity, own: set[Path], moved: Sequence[MovedSubmodule], project: Path, source: str
) -> State:
    """Return the deviating files, or why nobody can say which they are."""
    if code.refusals:
        refused = code.refusals[0]
        why = refused.why.splitlines()[0]
        if refused.is_stamp:
            return Unknown(Cause.EVIDENCE_LOST, why)
        return Unknown(Cause.GIT_REFUSED, f"{shown(refused.top, project)}: {why}")
    ours = [file for file in code.files if _is_ours(file, own)]
    if not any(file.owner.kind in (OwnerKind.REPOSITORY, OwnerKind.STAMP) for file in ours):
        return Unknown(Cause.NO_REPOSITORY, _nowhere(ours, project))
    found = [file for file in ours if file.verdict in DEVIATING]
    unjudged = next((file for file in ours if file.verdict in UNJUDGED), None)
    if unjudged is not None and not found:
        why = unjudged.detail.partition("\n")[0]
        return Unknown(UNJUDGED[unjudged.verdict], f"{shown(unjudged.path, project)}: {why}")
    table = deviations(found, project)
    for one in moved:
        table = table.with_row(shown(one.top, project), f"recorded at {one.recorded}", MOVED)
    return Known(table, Method.INSPECTED, source)


def _nowhere(ours: Sequence[FileIdentity], project: Path) -> str:
    """Say which files no repository owns: a cell of a notebook is a file in a temporary folder."""
    if not ours:
        return "no file of the project ran"
    return f"{len(ours)} that ran, such as {shown(ours[0].path, project)}"


def _is_data(file: FileIdentity, configs: frozenset[Path]) -> bool:
    """Say whether an opened config is data that came from elsewhere, and not the user's to commit.

    A model folder's config lies in no repository, or beside its weights; a result of an earlier run is JSON that git
    was told to ignore or that nobody added. A file that a commit holds is never data: its change counts.
    """
    if file.path not in configs:
        return False
    if file.owner.kind is OwnerKind.ORPHAN:
        return True
    is_unheld = file.verdict in (FileVerdict.NOT_IN_COMMIT, FileVerdict.NOT_IN_STAMP)
    return is_unheld and (file.path.suffix == ".json" or _is_beside_weights(file.real))


def _is_beside_weights(path: Path) -> bool:
    return any(next(path.parent.glob(pattern), None) for pattern in WEIGHTS)


def _is_ours(file: FileIdentity, own: set[Path]) -> bool:
    """Say whether a file is the user's to commit: what a repository owns, what changed, what they wrote elsewhere."""
    if file.owner.kind is OwnerKind.ORPHAN:
        return file.path in own and not _is_cache(file.real)
    committed = (OwnerKind.REPOSITORY, OwnerKind.STAMP, OwnerKind.HUB)
    return file.owner.kind in committed or file.verdict is FileVerdict.CHANGED_SINCE


def _is_cache(path: Path) -> bool:
    """Say whether a file lies in a cache of generated code: a ``…cache``, or a temporary ``<name>_<user>``."""
    place = Path(tempfile.gettempdir()).resolve()
    first = path.relative_to(place).parts[0] if path.is_relative_to(place) else ""
    return first.endswith(tuple(f"_{name}" for name in _my_names())) or any(
        part.lower().endswith("cache") for part in path.parent.parts
    )


def _my_names() -> tuple[str, ...]:
    """Return what this user is called; in a container the user may have a number only."""
    try:
        named = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        named = ""
    return tuple(filter(None, (os.environ.get("USER"), named))) or (str(os.getuid()),)


def deviations(files: Sequence[FileIdentity], home: Path) -> Table:
    """Return files that their owners do not describe as a table of path, owner and verdict."""
    rows = [(shown(file.path, home), str(file.owner), file.verdict.value) for file in files[:ROWS_SHOWN]]
    if len(files) > ROWS_SHOWN:
        rows.append((f"and {len(files) - ROWS_SHOWN} more", "", ""))
    return Table(("path", "owner", "verdict"), tuple(rows))


def shown(path: Path, home: Path) -> str:
    return str(path.relative_to(home) if path.is_relative_to(home) else path)
