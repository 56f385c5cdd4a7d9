"""``affidavit accept``: what a run resolved to and nobody asked for becomes what the next runs are held to."""

from __future__ import annotations

import os

import click

from affidavit.check.finding import Verdict
from affidavit.cli import page
from affidavit.cli.judgement import judged, manifest_of
from affidavit.cli.parameter import example, json_option, run_argument
from affidavit.cli.project import here, today
from affidavit.record.lock import accepted, write_lock
from affidavit.report.terminal import Span, Tone, line


@click.command(short_help="Accept into affidavit.lock what nobody asked for.", epilog=example("affidavit accept last"))
@run_argument
@json_option
def command(run: str, as_json: bool) -> int:
    """Write into affidavit.lock what this run resolved to and nobody asked for, under its recipe.

    Commit the file: its next change is something to look at. A setting that the script asks for by name is never in
    it, so a sweep over the learning rate does not touch it; what ran is, whoever asked for it.
    """
    project = here()
    found = project.find(run)
    recipe = manifest_of(project, found).recipe
    said = judged(project, found)
    changes = write_lock(project.lock_path, recipe, accepted(said.case.subject), as_of=today())
    failed = [finding.check for finding in said.findings if finding.verdict is Verdict.FAIL]
    if as_json:
        page.say({"recipe": recipe, "lock": str(project.lock_path), "changes": list(changes), "failed": failed})
        return 0
    page.show([line(Span(change, Tone.STRONG)) for change in changes])
    count = "1 line" if len(changes) == 1 else f"{len(changes)} lines"
    lock = os.path.relpath(project.lock_path)  # a whole path is longer than a line of a terminal
    said_last = f"{count} written to {lock}: commit it" if changes else "nothing new to accept"
    page.show([line(f'recipe "{recipe}": {said_last}')])
    if failed:
        page.show(
            [line(Span(f"this run fails {', '.join(failed)}; what is accepted is accepted all the same", Tone.BAD))]
        )
    return 0
