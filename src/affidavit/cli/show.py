"""``affidavit show``: the checklist and the findings of one run."""

from __future__ import annotations

import click

from affidavit.cli import page
from affidavit.cli.judgement import judged
from affidavit.cli.parameter import example, json_option, run_argument
from affidavit.cli.project import Project, here
from affidavit.record import annotated, chain, manifest, seal
from affidavit.record.runs import RunFolder
from affidavit.report import corrected, document, facts, implied, text


@click.command(
    short_help="Show what a run swears to, and whatever is not well.", epilog=example("affidavit show last --facts")
)
@run_argument
@click.option("--facts", "with_facts", is_flag=True, help="List every fact, with how it is known.")
@click.option("--implied", "with_implied", is_flag=True, help="List what nobody asked for, and who decided it.")
@json_option
def command(run: str, with_facts: bool, with_implied: bool, as_json: bool) -> int:
    """Show what a run swears to: the seven-line checklist, then whatever is not well.

    RUN may be the path of a file of which something was said by "affidavit annotate".

    The exit code is 0 whatever was found; "affidavit check" returns verdicts.
    """
    project = here()
    found = project.find(run)
    if annotated.is_chain(found.folder):
        _corrected(project, found, called=run, as_json=as_json)
        return 0
    said = judged(project, found)
    if as_json:
        page.say(document.statement(said))
        return 0
    page.show(text.report(said))
    if with_implied:
        page.show(implied.lines(said.case.subject))
    if with_facts:
        page.show(facts.lines(said.case.subject))
    return 0


def _corrected(project: Project, found: RunFolder, *, called: str, as_json: bool) -> None:
    """Show what was said of a file."""
    record = manifest.to_record(seal.read_sealed(found.folder).manifest, project.vocabulary)
    said = chain.read(found.folder)
    if as_json:
        page.say(corrected.document(record, said, called=called))
    else:
        page.show(corrected.lines(record, said, called=called))
