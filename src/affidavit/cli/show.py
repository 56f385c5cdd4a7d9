"""``affidavit show``: the checklist and the findings of one run."""

from __future__ import annotations

import click

from affidavit.cli import page
from affidavit.cli.judgement import judged
from affidavit.cli.parameter import example, json_option, run_argument
from affidavit.cli.project import here
from affidavit.report import document, facts, implied, text


@click.command(
    short_help="Show what a run swears to, and whatever is not well.", epilog=example("affidavit show last --facts")
)
@run_argument
@click.option("--facts", "with_facts", is_flag=True, help="List every fact, with how it is known.")
@click.option("--implied", "with_implied", is_flag=True, help="List what nobody asked for, and who decided it.")
@json_option
def command(run: str, with_facts: bool, with_implied: bool, as_json: bool) -> int:
    """Show what a run swears to: the seven-line checklist, then whatever is not well.

    The exit code is 0 whatever was found; "affidavit check" returns verdicts.
    """
    project = here()
    said = judged(project, project.find(run))
    if as_json:
        page.say(document.statement(said))
        return 0
    page.show(text.report(said))
    if with_implied:
        page.show(implied.lines(said.case.subject))
    if with_facts:
        page.show(facts.lines(said.case.subject))
    return 0
