"""``affidavit annotate``: a correction that says what falls and what survives."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from affidavit.cli import page
from affidavit.cli.judgement import sealed
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here
from affidavit.fact.errors import refusal
from affidavit.observe.person import author_of
from affidavit.record import annotated, chain, manifest
from affidavit.record.annotation import Annotation, AnnotationError, Correction, Extent, by_subject, closure, present
from affidavit.record.runs import RunNotFoundError
from affidavit.record.seal import read_sealed
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run import annotating

_EXAMPLE = "affidavit annotate last --falls 'attention.*' --survives 'tokens.*' --why 'profiled another seat'"
_KINDS = {one.value.replace(" ", "-"): one for one in Extent}
_INDENT = len("not reviewed  ")


@click.command(short_help="Correct a sealed run or a file, which itself is never edited.", epilog=example(_EXAMPLE))
@click.argument("run", metavar="RUN|PATH")
@click.option(
    "--falls", multiple=True, metavar="FACT", help="What no reader may use any longer; repeat it, or 'group.*'."
)
@click.option("--survives", multiple=True, metavar="FACT", help="What you looked at and found to stand.")
@click.option("--reviewed-nothing-else", "nothing_else", is_flag=True, help="Say so where nothing is named to survive.")
@click.option("--why", default="", help="Why.")
@click.option("--reason", default="", hidden=True, help="The older word for --why.")
@click.option(
    "--kind",
    type=click.Choice(tuple(_KINDS)),
    help="Follows from what falls; a part that falls is an erratum or, by this, a partial-retraction.",
)
@click.option("--by", default="", metavar="RUN|PATH", help="What takes its place; the correction then supersedes.")
@click.option("--author", default="", help="Who says so; by default git's user.name, else the login name.")
@json_option
def command(
    run: str,
    falls: tuple[str, ...],
    survives: tuple[str, ...],
    nothing_else: bool,
    why: str,
    reason: str,
    kind: str | None,
    by: str,
    author: str,
    as_json: bool,
) -> int:
    """Correct a sealed run: say what of it falls and what survives. The sealed record itself is never edited.

    What falls is unknown to every later reader, and so is all that was derived from it. What you name on neither side
    is written down as not reviewed.

    PATH is a card, a config, a checkpoint or a document. It is known by its digest and stays as it is; what is said of
    it lies in affidavit.corrections, to be committed. Its parts are named as in 'README.md:learning_rate', 'section:6'
    or 'claim:rebuild'.
    """
    project = here()
    said = Correction(
        falls=falls,
        survives=survives,
        nothing_else=nothing_else,
        reason=why or reason,
        kind=_KINDS[kind] if kind else None,
        by=_successor(project, run, by),
        author=author or author_of(project.root),
    )
    folder, made, is_file = _appended(project, run, said)
    called = os.path.relpath(run) if is_file else folder.name
    kept = os.path.relpath(folder, project.root) if is_file else ""
    if as_json:
        page.say(
            {
                "number": made.seq,
                "about": called,
                "kept": kept,
                "kind": made.kind.value,
                "falls": list(made.falls),
                "survives": list(made.survives),
                "not_reviewed": list(made.not_reviewed),
                "by": made.by,
            }
        )
        return 0
    page.show(_lines(made, folder, called=called, kept=kept))
    return 0


def _appended(project: Project, run: str, said: Correction) -> tuple[Path, Annotation, bool]:
    """Return where a correction was appended, what it became, and whether it is about a file."""
    try:
        found = project.find(run)
    except RunNotFoundError:
        if not os.path.lexists(run):
            raise
    else:
        folder = sealed(project, found)
        made = chain.append(folder, said)
        project.attest_correction(folder)
        return folder, made, False
    notary, vocabulary = project.notary, project.vocabulary
    folder, made, untold = annotating.correct(Path(run), said, root=project.root, vocabulary=vocabulary, notary=notary)
    page.tell(untold)
    return folder, made, True


def _successor(project: Project, run: str, by: str) -> str:
    """Return what takes a record's place under a name that stays: a run's id, not "last", or a path from the project.

    Raises:
        RunNotFoundError: there is nothing of that name, so nobody could look it up.
        AnnotationError: it is the record itself.
    """
    if not by.strip():
        return ""
    called = _called(project, by)
    if called == _called(project, run):
        raise AnnotationError(
            refusal(
                subject=f'--by "{by}"',
                expected="a run or a file that takes the place of another",
                saw=f"{called}, which is corrected here",
                means="A record that gives way to itself says nothing.",
                action='Name the run that is right ("affidavit ls"), or say what of this one falls.',
                unaffected="the record, which stays as it was",
            )
        )
    return called


def _called(project: Project, name: str) -> str:
    try:
        found = project.find(name)
    except RunNotFoundError:
        if not os.path.lexists(name):
            raise
    else:
        if not annotated.is_chain(found.folder):
            return found.id
    return os.path.relpath(name, project.root)


def _lines(made: Annotation, folder: Path, *, called: str, kept: str) -> Iterator[Line]:
    record = manifest.to_record(read_sealed(folder).manifest)
    held = present(record)
    derived = (closure(made.falls, record.vocabulary) & set(held)).difference(made.falls)
    fallen, standing = (", ".join(by_subject(terms, held)) for terms in (made.falls, made.survives))
    by = f", by {made.by}" if made.by else ""
    yield line(Span(f"{made.kind.value} #{made.seq} of {called}{by}", Tone.STRONG))
    yield line(fallen or "nothing", head="falls", indent=_INDENT)
    if derived:
        yield line(f"{', '.join(by_subject(derived, held))}, derived from it", head="falls too", indent=_INDENT)
    yield line(standing or "nothing named", head="survives", indent=_INDENT)
    yield line(", ".join(made.not_reviewed) or "nothing", head="not reviewed", indent=_INDENT)
    if kept:
        yield line(f"{Path(kept).parent}/{folder.name[:12]}…: commit it", head="kept in", indent=_INDENT)
