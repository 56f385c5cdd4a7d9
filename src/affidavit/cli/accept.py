"""``affidavit accept``: what a run resolved to and nobody asked for becomes what the next runs are held to."""

from __future__ import annotations

import os

import click

from affidavit.check.finding import Verdict
from affidavit.cli import page
from affidavit.cli.judgement import judged, manifest_of
from affidavit.cli.parameter import example, json_option, run_argument
from affidavit.cli.project import here, today
from affidavit.record.annotation import by_subject, present
from affidavit.record.lock import accepted, write_lock
from affidavit.report.implied import unusual
from affidavit.report.terminal import Span, Tone, line

_HOLDS = "lock-holds"


@click.command(short_help="Accept into affidavit.lock what nobody asked for.", epilog=example("affidavit accept last"))
@run_argument
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@json_option
def command(run: str, dry_run: bool, as_json: bool) -> int:
    """Write into affidavit.lock what this run resolved to and nobody asked for, under its recipe.

    Commit the file: its next change is something to look at. A setting that the script asks for by name is never in
    it, so a sweep over the learning rate does not touch it; what ran is, whoever asked for it.

    With --dry-run the exit code is 1 where something would be written.
    """
    project = here()
    found = project.find(run)
    recipe = manifest_of(project, found).recipe
    said = judged(project, found)
    facts = accepted(said.case.subject)
    changes = write_lock(
        project.lock_path, recipe, facts, vocabulary=project.vocabulary, as_of=today(), dry_run=dry_run
    )
    failing = (finding.check for finding in said.findings if finding.verdict is Verdict.FAIL)
    failed = [check for check in failing if check != _HOLDS]  # what that one accuses is what is being accepted
    fell = sorted({fact.name for fact in said.case.subject.facts if fact.was is not None})
    code = 1 if dry_run and changes else 0
    if as_json:
        listed = [{"entry": change.key, "said": change.said, "usual": change.is_usual} for change in changes]
        lock = str(project.lock_path)
        page.say(
            {"recipe": recipe, "lock": lock, "written": not dry_run, "changes": listed, "failed": failed, "fell": fell}
        )
        return code
    page.show([line(Span(change.said, Tone.STRONG)) for change in changes if not change.is_usual])
    page.show(unusual(change.said for change in changes if change.is_usual))
    count = "1 entry" if len(changes) == 1 else f"{len(changes)} entries"
    lock = os.path.relpath(project.lock_path)  # a whole path is longer than a line of a terminal
    written = f"{count} would be written to {lock}" if dry_run else f"{count} written to {lock}: commit it"
    page.show([line(f'recipe "{recipe}": {written if changes else "nothing new to accept"}')])
    if fell:
        named = ", ".join(by_subject(fell, present(said.case.subject)))
        page.show([line(Span(f"fell by a later correction, so not accepted: {named}", Tone.BAD))])
    if failed:
        page.show(
            [line(Span(f"this run fails {', '.join(failed)}; what is accepted is accepted all the same", Tone.BAD))]
        )
    return code
