"""Whose the code is that ran: the outside half of code identity, from the lists that the ranks left as evidence.

Source: playbook §4.4; research/anchors-provenance §3.
Blind to: what :mod:`affidavit.observe.code` is blind to, and ranks whose list is lost, which make the facts Unknown.
"""

from __future__ import annotations

import json
import os
import pwd
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from affidavit.fact import folder as names
from affidavit.fact.observation import Cause, Known, State, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Digest, Table, Tally
from affidavit.observe.code import CodeIdentity, FileIdentity, FileVerdict, LoadedFile, identify
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.owner import OwnerKind
from affidavit.record.canonical import digest_bytes
from affidavit.record.ranks import written
from affidavit.record.record import Fact, Record

LISTING = "code.listing"
RESOLVED = ("code.commit", "code.files_by_verdict", "code.deviations")
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
        FileVerdict.ORPHAN,
    }
)

UNJUDGED = {
    FileVerdict.UNREADABLE: Cause.EVIDENCE_LOST,
    FileVerdict.GIT_REFUSED: Cause.GIT_REFUSED,
}


@dataclass(frozen=True)
class _Listing:
    """What one rank loaded: its own files with what was executed of them, and files of the environment."""

    own: tuple[LoadedFile, ...]
    configs: frozenset[Path]
    installed: tuple[LoadedFile, ...]
    interpreter: Interpreter


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
    read = [_read(state, places, cwd) for state in dict.fromkeys(fact.state for fact in record.find(LISTING))]
    listings = [found for found in read if isinstance(found, _Listing)]
    gap = next((found for found in read if isinstance(found, Unknown)), None) or _unseen(record)
    if gap is not None and not listings:
        return _all_unknown(gap)
    own = tuple(dict.fromkeys(file for listing in listings for file in listing.own))
    installed = tuple(dict.fromkeys(file for listing in listings for file in listing.installed))
    code = identify((*own, *installed), listings[0].interpreter, commits=commits)
    configs = frozenset[Path]().union(*(listing.configs for listing in listings))
    data = {file.path for file in code.files if _is_data(file, configs - named)}
    mine = replace(code, files=tuple(file for file in code.files if file.path not in data))
    return _resolve(mine, {file.path for file in own}, project, gap)


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


def _read(state: State, places: Sequence[Path], cwd: Path) -> _Listing | Unknown:
    if isinstance(state, Unknown):
        return state
    assert isinstance(state.value, Digest)
    content = evidence(state.value, places)
    if content is None:
        return Unknown(Cause.EVIDENCE_LOST, f"the list of loaded files {state.value} is gone or altered")
    own: list[LoadedFile] = []
    configs: set[Path] = set()
    installed: list[LoadedFile] = []
    interpreter: Interpreter | None = None
    try:
        for line in content.decode("utf-8", "surrogateescape").splitlines():
            said = json.loads(line)
            if said["kind"] in ("code", "config"):
                own.append(LoadedFile(path=_path(cwd, said), sha256=said["sha256"] or None))
                configs |= {_path(cwd, said)} if said["kind"] == "config" else set()
            elif said["kind"] == "installed":
                installed.append(LoadedFile(path=_path(cwd, said)))
            elif said["kind"] == "python":
                interpreter = _interpreter(said)
    except (ValueError, KeyError, TypeError) as error:
        return Unknown(Cause.EVIDENCE_LOST, f"the list of loaded files {state.value} is none: {error!r}")
    if interpreter is None:
        return Unknown(Cause.EVIDENCE_LOST, f"the list of loaded files {state.value} does not say whose Python ran")
    return _Listing(tuple(own), frozenset(configs), tuple(installed), interpreter)


def _interpreter(said: Mapping[str, Any]) -> Interpreter:
    return Interpreter.from_paths(
        prefix=str(said["prefix"]),
        base_prefix=str(said["base_prefix"]),
        sites=tuple(map(str, said["sites"])),
        stdlib=tuple(map(str, said["stdlib"])),
    )


def _path(cwd: Path, said: Mapping[str, str]) -> Path:
    if "\0" in said["path"]:
        raise ValueError("a path with a zero byte")
    return cwd / said["path"]


def evidence(digest: Digest, places: Iterable[Path]) -> bytes | None:
    """Return the content that has this digest, or None where it is gone or altered."""
    for place in places:
        try:
            content = (place / names.EVIDENCE / digest.hex).read_bytes()
        except OSError:
            continue
        if digest_bytes(content) == digest:
            return content
    return None


def _resolve(code: CodeIdentity, own: set[Path], project: Path, gap: Unknown | None) -> tuple[Fact, ...]:
    """Return the facts of the code; ``gap`` is why it may not be all of the code."""
    source = f"{len(code.files)} loaded files against their owners"
    counts = Counter(file.verdict.value for file in code.files)
    commits = [f"{found.top.name}@{found.commit or 'unborn'}" for found in code.repositories]
    facts: dict[str, State] = {
        "code.commit": Known(", ".join(commits) or "no repository", Method.INSPECTED, "git"),
        "code.files_by_verdict": Known(Tally.count("files", counts), Method.INSPECTED, source),
        "code.deviations": _deviations(code, own, project, source),
    }
    if code.refusals:
        facts["code.commit"] = facts["code.deviations"]
    found = facts["code.deviations"]
    if gap is not None and not (isinstance(found, Known) and isinstance(found.value, Table) and found.value.rows):
        return _all_unknown(gap)  # what deviates does so whatever a rank that is missing would say
    return tuple(Fact(name=name, state=state) for name, state in facts.items())


def _deviations(code: CodeIdentity, own: set[Path], project: Path, source: str) -> State:
    """Return the deviating files, or why nobody can say which they are."""
    if code.refusals:
        refused = code.refusals[0]
        return Unknown(Cause.GIT_REFUSED, f"{refused.top}: {refused.why.splitlines()[0]}")
    ours = [file for file in code.files if _is_ours(file, own)]
    if not any(file.owner.kind is OwnerKind.REPOSITORY for file in ours):
        return Unknown(Cause.NO_REPOSITORY, _nowhere(ours, project))
    found = [file for file in ours if file.verdict in DEVIATING]
    unjudged = next((file for file in ours if file.verdict in UNJUDGED), None)
    if unjudged is not None and not found:
        why = unjudged.detail.partition("\n")[0]
        return Unknown(UNJUDGED[unjudged.verdict], f"{shown(unjudged.path, project)}: {why}")
    return Known(deviations(found, project), Method.INSPECTED, source)


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
    return file.verdict is FileVerdict.NOT_IN_COMMIT and (file.path.suffix == ".json" or _is_beside_weights(file.real))


def _is_beside_weights(path: Path) -> bool:
    return any(next(path.parent.glob(pattern), None) for pattern in WEIGHTS)


def _is_ours(file: FileIdentity, own: set[Path]) -> bool:
    """Say whether a file is the user's to commit: what a repository owns, what changed, what they wrote elsewhere."""
    if file.owner.kind is OwnerKind.ORPHAN:
        return file.path in own and not _is_cache(file.real)
    return file.owner.kind is OwnerKind.REPOSITORY or file.verdict is FileVerdict.CHANGED_SINCE


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
