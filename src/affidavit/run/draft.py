"""What a run says of itself as it lies there: the record at any time, the manifest once it is over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import affidavit
from affidavit.fact import folder as names
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Scope, Vocabulary
from affidavit.observe import config_arguments
from affidavit.record.manifest import Evidence, Interpreter, Launcher, Manifest, Status, from_record
from affidavit.record.merge import merge
from affidavit.record.record import Fact, Kind, Record
from affidavit.run.artifacts import artifact_facts
from affidavit.run.attempts import attempt_facts
from affidavit.run.claims import claims_fact
from affidavit.run.closing import close
from affidavit.run.code import code_facts
from affidavit.run.gathered import Gathered, steps
from affidavit.run.lineage import lineage_of
from affidavit.run.opened import file_fact
from affidavit.run.tree import kept_commits


def record_of(
    gathered: Gathered, vocabulary: Vocabulary, *, notes: Sequence[str] = (), is_over: bool = False
) -> Record:
    """Return the record of a run as it stands, code identity included; it need not be over.

    A command that was refused before its start left no run, and its record is the project's.
    """
    last = gathered.told[-1].start if gathered.told else None
    told = [f"not attached: {line}" for line in gathered.refused]
    told += gathered.vetoed
    told += [note for one in gathered.told if one.ended for note in one.ended.notes]
    project, strange = _project_facts(gathered, vocabulary)
    kind = Kind.PROJECT if not gathered.is_started else last.kind if last else Kind.RUN
    record = merge(
        [one.reading for one in gathered.trainers],
        kind=kind,
        subject=gathered.run,
        vocabulary=vocabulary,
        notes=(*gathered.notes, *told, *strange, *notes),
        steps=steps(gathered.trainers),
        silence=_silence(gathered),
    )
    if kind is Kind.PROJECT:
        return record.with_facts((*record.facts, *project))
    cwd = _cwd(gathered)
    named = config_arguments(last.command, Path(last.cwd)) if last else ()
    code = code_facts(
        record,
        places=gathered.places,
        cwd=cwd,
        project=Path(last.project) if last else cwd,
        commits=_commits(project, Path(last.project)) if last else {},
        named=frozenset(named),
    )
    home = Path(last.project) if last else cwd
    lineage = lineage_of(record, gathered, project=home, silence=_silence(gathered))
    made = (lineage.fact(home), claims_fact(lineage, record, gathered, project=home))
    tried = attempt_facts(gathered, silence=_silence(gathered), is_over=is_over)
    outside = {fact.name: fact for fact in (*project, *code, *made, *tried)}  # no process inside speaks for these
    return record.with_facts((*(fact for fact in record.facts if fact.name not in outside), *outside.values()))


def draft(gathered: Gathered, vocabulary: Vocabulary, *, notes: Sequence[str] = ()) -> Manifest:
    """Return the manifest of a run that is over."""
    record = record_of(gathered, vocabulary, notes=notes, is_over=True)
    endings = tuple(close(gathered, number) for number in gathered.numbers)
    last = gathered.told[-1].start if gathered.told else None
    if record.kind is Kind.RUN:
        project = Path(last.project) if last else _cwd(gathered)
        ended = max((ending.attempt.ended.timestamp() for ending in endings), default=0.0)
        saved = artifact_facts(gathered, project=project, ended=ended, silence=_silence(gathered))
        data = file_fact(record, project=project, ended=ended, silence=_silence(gathered))
        record = record.with_facts((*record.facts, *saved, data))
    opened = gathered.trainers[-1].reading.opened if gathered.trainers else {}
    said = tuple(note for ending in endings for note in ending.notes)
    return from_record(
        replace(record, notes=(*record.notes, *said)),
        affidavit=affidavit.__version__,
        status=endings[-1].attempt.status if endings else Status.ABANDONED,
        attempts=tuple(ending.attempt for ending in endings),
        recipe=last.recipe if last else "",
        evidence=_evidence(gathered.folder),
        interpreter=Interpreter(
            python=str(opened.get("python", "")),
            executable=str(opened.get("executable", "")),
            platform=str(opened.get("platform", "")),
        ),
        launcher=Launcher(
            kind=Path(last.command[0]).name if last else "",
            scheduler=last.scheduler.name if last else "",
            job=last.scheduler.job if last else "",
            host=last.supervisor.host if last else "",
            world=record.world,
        ),
    )


def _cwd(gathered: Gathered) -> Path:
    """Return the folder in which the processes ran, as the last of them says, or its supervisor."""
    last = gathered.told[-1].start if gathered.told else None
    opened = gathered.trainers[-1].reading.opened if gathered.trainers else {}
    return Path(str(opened.get("cwd") or (last.cwd if last else "."))).absolute()


def _silence(gathered: Gathered) -> Unknown:
    """Return why nothing is known where no process left a journal, with the likeliest cause in plain words."""
    start = gathered.told[-1].start if gathered.told else None
    if gathered.hello:
        return Unknown(Cause.NOTHING_TRAINED, "attached, and no training loop that an adapter knows has begun a step")
    if gathered.refused:
        return Unknown(Cause.NOTHING_ATTACHED, gathered.refused[0])
    command = start.command if start else ()
    return Unknown(Cause.NOTHING_ATTACHED, _likely(command) or "no Python of this command started with our environment")


def _likely(command: Sequence[str]) -> str:
    """Say what in a command line keeps us out, or "" where nothing does."""
    for word in command:
        if re.fullmatch(r"-[A-Za-z]*[IES][A-Za-z]*", word):
            return f'"{word}" starts Python without its environment; add "import affidavit; affidavit.observe()"'
    name = Path(command[0]).name if command else ""
    if name in ("docker", "podman", "singularity", "apptainer", "enroot", "ssh", "kubectl", "sudo"):
        return f'"{name}" does not pass our environment on; start affidavit inside'
    if name == "env" and ("-i" in command or "-" in command):
        return '"env -i" empties the environment; start affidavit inside'
    return ""


def _project_facts(gathered: Gathered, vocabulary: Vocabulary) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    """Return what was found before the command started, and a note for each thing that can be no fact here.

    Each fact is from the last attempt that speaks of it.
    """
    found: dict[str, Fact] = {}
    for told in sorted(gathered.told, key=lambda told: (told.start.number, -told.start.task)):
        found |= {fact.name: fact for fact in told.facts}
    fitting = tuple(fact for fact in found.values() if _fits(fact, vocabulary))
    strange = (f"{name}: stated before the command, and no such fact can be" for name in found)
    return fitting, tuple(note for note, fact in zip(strange, found.values()) if fact not in fitting)


def _fits(fact: Fact, vocabulary: Vocabulary) -> bool:
    if fact.name not in vocabulary or vocabulary[fact.name].scope is Scope.RANK:
        return False
    return isinstance(fact.state, Unknown) or vocabulary[fact.name].admits(fact.state.value)


def _commits(facts: Sequence[Fact], project: Path) -> dict[Path, str]:
    """Return the commit of each repository that holds what was on disk before the start.

    It is the snapshot's, or the one that the project stood on: HEAD may be elsewhere by now.
    """
    top = next((folder for folder in (project, *project.parents) if (folder / ".git").exists()), None)
    home = top.resolve() if top else None
    known = {fact.name: str(fact.state.value) for fact in facts if isinstance(fact.state, Known)}
    commit = known.get("tree.commit", "")
    stood_on = {home: commit} if home and re.fullmatch(r"[0-9a-f]{40,64}", commit) else {}
    return {**stood_on, **kept_commits(known.get("tree.gate", ""), home)}


def _evidence(folder: Path) -> tuple[Evidence, ...]:
    """Return the files beside the manifest whose names are the digests of what they hold."""
    found: list[Evidence] = []
    for name, is_tokens in ((names.EVIDENCE, False), (names.TOKENS, True)):
        place = folder / name
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if re.fullmatch(r"[0-9a-f]{64}", path.name):
                size = path.stat().st_size
                found.append(Evidence(digest=f"sha256:{path.name}", bytes=size, tokens=is_tokens))
    return tuple(found)
