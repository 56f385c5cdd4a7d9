"""``affidavit report``: one run as one HTML file that loads and runs nothing."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from affidavit.check.finding import Verdict
from affidavit.cli.judgement import judged, manifest_of
from affidavit.cli.kept import TERM, kept
from affidavit.cli.parameter import example, run_argument
from affidavit.cli.project import Project, here
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.record import file, seal
from affidavit.record.runs import RunFolder
from affidavit.report.page.dossier import Dossier, Kept
from affidavit.report.statement import Statement
from affidavit.report.terminal import clean

STDOUT = "-"
NAME, SHARED_NAME = "report.html", "report.shared.html"
_TRAININGS = 8


class ReportError(AffidavitError):
    """The file cannot be written where it was asked for."""


@click.command(
    short_help="Write one run as one HTML file.", epilog=example("affidavit report last --share --output report.html")
)
@run_argument
@click.option("--output", metavar="FILE", default="", help="Where to; - is stdout. Default: the run's own folder.")
@click.option("--share", is_flag=True, help="Leave out paths, hosts, people and the text of the data.")
def command(run: str, output: str, share: bool) -> int:
    """Write one run as one HTML file: it loads nothing, runs nothing, and can be printed.

    A shared copy (--share) holds numbers, verdicts, and the words that Affidavit itself uses; any other text of the
    record is withheld. The exit code is 0 whatever was found; "affidavit check" returns verdicts.
    """
    from affidavit.report.page import markup
    from affidavit.report.page.share import shared

    project = here()
    found = project.find(run)
    dossier = dossier_of(project, found)
    page = markup.render(shared(dossier) if share else dossier)
    if output == STDOUT:
        sys.stdout.buffer.write(page)
        return 0
    path = Path(output) if output else found.folder / (SHARED_NAME if share else NAME)
    _write(path, page)
    click.echo(path)
    click.echo(clean(_counts(dossier.statement)))
    return 0


def dossier_of(project: Project, run: RunFolder) -> Dossier:
    """Return all that a page shows of a sealed run; one that is over and not sealed is sealed first.

    Raises:
        StillRunningError: it is not over.
        TokensError, ChainError, SealError: what lies in its folder is not what was sealed.
    """
    manifest_of(project, run)
    statement = judged(project, run)
    sealed = seal.read_sealed(run.folder)
    return Dossier(
        statement=statement,
        manifest=sealed.manifest,
        digest=str(sealed.digest),
        tokens=_tokens(run.folder, statement),
    )


def _tokens(folder: Path, statement: Statement) -> tuple[Kept, ...]:
    """Return the rows of the lowest rank that kept any, of each training; several trainings show the last ones."""
    found = []
    episodes = range(statement.case.subject.episodes)
    for episode in episodes[-_TRAININGS:]:
        case = replace(statement.case, episode=episode)
        ranks = [rank for fact in case.facts(TERM) for rank in fact.ranks] if TERM in case.vocabulary else []
        if ranks:
            said = kept(folder, case, min(ranks))
            missing = said if isinstance(said, str) else ""
            spans = None if isinstance(said, str) else said
            found.append(Kept(rank=min(ranks), episode=episode, spans=spans, missing=missing))
    return tuple(found)


def _counts(statement: Statement) -> str:
    """Say what the page says: of a run of which all is unknown, "0 FAIL" would read as well."""
    counts = statement.decision.counts
    told = [(verdict, count) for verdict, count in counts if verdict is not Verdict.NOT_APPLICABLE] or counts
    return f"{statement.stands} · {', '.join(f'{count} {verdict.value}' for verdict, count in told) or 'not judged'}"


def _write(path: Path, page: bytes) -> None:
    try:
        file.replace(path, page)
    except OSError as error:
        raise ReportError(
            refusal(
                subject=f'--output "{path}"',
                expected="a place where a file can be written",
                saw=error.strerror or str(error),
                means="No report was written.",
                action="Name another file, or - for stdout.",
                unaffected="the run and its record",
            )
        ) from error
