"""``affidavit whence``: the way back from a checkpoint to the run that wrote it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from affidavit.check.finding import Verdict
from affidavit.cli import page
from affidavit.cli.judgement import judged, status_of
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here
from affidavit.record import annotated, chain, manifest, seal
from affidavit.record.annotation import present
from affidavit.record.runs import RunFolder
from affidavit.report import origin as report
from affidavit.report.origin import About
from affidavit.run.annotating import content_of
from affidavit.run.origin import find_origin
from affidavit.run.sealing import Running, ensure_sealed


@click.command(
    short_help="Find the run that wrote a checkpoint.",
    epilog=example("affidavit whence out/checkpoint-500"),
)
@click.argument("path", type=click.Path(path_type=Path))
@json_option
def command(path: Path, as_json: bool) -> int:
    """Find the run that wrote PATH: a checkpoint, an adapter, a merged model, or one file of them, wherever it lies.

    It is found by its weights, or by the affidavit.json that was left beside it. What was corrected since comes first.
    Exit code 0 where it is as the run wrote it and nothing fell, 1 where something contradicts that, 4 where no run
    here is known to have written it.
    """
    project = here()
    found = find_origin(path, project.runs(), project=project.root, attest=project.attest)
    about = _own(project, path, About() if found.run is None else _about(project, found.run))
    if as_json:
        page.say(report.document(found, about))
    else:
        page.show(report.lines(found, about))
    return report.exit_code(found, about)


def _own(project: Project, path: Path, about: About) -> About:
    """Return it with what was said of these very files, whoever wrote them."""
    folder = annotated.chain_of(path, project.root, content_of(path))
    if folder is None:
        return about
    held = present(manifest.to_record(seal.read_sealed(folder).manifest, project.vocabulary))
    return replace(about, own=chain.read(folder), held=held)


def _about(project: Project, run: RunFolder) -> About:
    """Return what there is to say of a run that is over; of one that goes on, that it does."""
    standing = ensure_sealed(run.folder, project.vocabulary, project.attest)
    if isinstance(standing, Running):
        return About(status=status_of(standing))
    return About(
        status=status_of(standing),
        recipe=standing.recipe,
        record=manifest.to_record(seal.read_sealed(run.folder).manifest, project.vocabulary),
        annotations=chain.read(run.folder),
        verdicts="" if run.is_adopted else _verdicts(project, run),
    )


def _verdicts(project: Project, run: RunFolder) -> str:
    said = judged(project, run)
    counts = [f"{count} {verdict.value}" for verdict, count in said.decision.counts if verdict is not Verdict.PASS]
    passed = [f"{count} {verdict.value}" for verdict, count in said.decision.counts if verdict is Verdict.PASS]
    failed = dict.fromkeys(found.check for found in said.findings if found.verdict is Verdict.FAIL)
    return ", ".join((*passed, *counts)) + (f" (FAIL: {', '.join(failed)})" if failed else "")
