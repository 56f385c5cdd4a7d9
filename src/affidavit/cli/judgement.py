"""From a run that a person named to the statement that is drawn of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from affidavit.case import SUBJECT, Case
from affidavit.check.engine import judge
from affidavit.check.rule import Check
from affidavit.cli.project import Project, today
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.gate import decide
from affidavit.record import chain, fold
from affidavit.record.annotation import Annotation
from affidavit.record.manifest import Manifest, Status
from affidavit.record.record import Fact, Kind, Record, ordered
from affidavit.record.runs import RunFolder, is_misplaced
from affidavit.report.statement import Statement
from affidavit.run.assemble import assemble
from affidavit.run.corrections import Felled, touching
from affidavit.run.proofs.standing import doubts
from affidavit.run.sealing import Running, ensure_sealed


class MisplacedError(AffidavitError):
    """Under the name of one run lies the record of another."""


class StillRunningError(AffidavitError):
    """The run is not over, so there is no sealed record of it."""


def manifest_of(project: Project, run: RunFolder) -> Manifest:
    """Return the sealed manifest of a run, sealing it now where it is over and nobody has.

    Raises:
        StillRunningError: somebody of it is alive.
    """
    found = _ended(project, run)
    if isinstance(found, Running):
        raise StillRunningError(
            refusal(
                subject=f"run {run.id}",
                expected="a run that is over",
                saw=f"step {found.last_step} of attempt {found.attempt}, alive: {', '.join(found.alive)}",
                means="Its record is sealed when it ends.",
                action=f'Run "affidavit show {run.id}" for what is known by now.',
                unaffected="the run",
            )
        )
    return found


def sealed(project: Project, run: RunFolder) -> Path:
    """Return the folder of a run that is sealed, sealing it now where it is over and nobody has."""
    manifest_of(project, run)
    return run.folder


def folded(project: Project, run: RunFolder) -> Record:
    """Return the record of a sealed run with its corrections folded in."""
    return fold.read_record(sealed(project, run), project.vocabulary)


def stated(
    project: Project,
    case: Case,
    *,
    title: str,
    status: str,
    strict: bool = False,
    checks: tuple[Check, ...] = (),
    corrections: tuple[Felled, ...] = (),
    annotations: tuple[Annotation, ...] = (),
) -> Statement:
    """Return the statement of a case: judged by every check of the project or these, decided under its waivers."""
    judging = checks or project.checks
    findings = judge(judging, case)
    lines = project.ledger()
    return Statement(
        title=title,
        status=status,
        case=case,
        checks=judging,
        findings=findings,
        decision=decide(findings, project.settings.waivers, as_of=case.as_of, strict=strict),
        ledger=lines,
        doubts=doubts(project.settings, judging, lines, case.as_of),
        corrections=corrections,
        annotations=annotations,
    )


def before(project: Project, facts: Iterable[Fact], *, title: str, strict: bool = False) -> Statement:
    """Return the statement of what is known before a command starts: the project as it lies there."""
    record = Record(kind=Kind.PROJECT, subject=title, facts=ordered(facts), vocabulary=project.vocabulary)
    case = Case(records={SUBJECT: record}, as_of=today())
    return stated(project, case, title=title, status="before the command", strict=strict)


def judged(project: Project, run: RunFolder, *, strict: bool = False) -> Statement:
    """Return the statement of a run, over or not; one that is over is sealed first."""
    found = _ended(project, run)
    case = assemble(run.folder, project.settings, as_of=today(), vocabulary=project.vocabulary)
    felled = touching(run.folder, project.root, case)
    said = chain.read(run.folder) if isinstance(found, Manifest) else ()
    return stated(
        project,
        case,
        title=run.id,
        status=status_of(found),
        strict=strict,
        corrections=felled,
        annotations=said,
    )


def _ended(project: Project, run: RunFolder) -> Manifest | Running:
    """Return the sealed manifest of a run that is over, else how it stands.

    Raises:
        MisplacedError: the folder holds what another run swore to.
    """
    found = ensure_sealed(run.folder, project.vocabulary, project.attest)
    if isinstance(found, Manifest) and is_misplaced(run.folder, found.run, project.root):
        raise MisplacedError(
            refusal(
                subject=f"run {run.id!a}",
                expected="its own record in its folder",
                saw=f"the record of {found.run!a}",
                means="The folder was renamed, or another run was put in its place: nobody can say what this run did.",
                action=f"Call the folder {found.run} again, or restore it from a copy.",
                unaffected="every run whose folder has its own name",
            )
        )
    return found


def status_of(found: Manifest | Running) -> str:
    """Say how a run stands, in the words of its manifest once it is over."""
    if isinstance(found, Running):
        return f"running, attempt {found.attempt + 1}, step {found.last_step}"
    if found.status is Status.ADOPTED:
        return "ADOPTED, declared only"
    if found.status is Status.REFUSED:
        return f"{found.ending} before it started"
    attempts = f", {len(found.attempts)} attempts" if len(found.attempts) > 1 else ""
    last = found.attempts[-1].last_step if found.attempts else 0
    return f"{found.ending}, step {last}{attempts}"
