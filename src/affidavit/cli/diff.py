"""``affidavit diff``: what two runs resolved to differently."""

from __future__ import annotations

import click

from affidavit.cli import page
from affidavit.cli.judgement import folded
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import here
from affidavit.report import document
from affidavit.report.difference import compare, lines


@click.command(epilog=example("affidavit diff 20260101 last"))
@click.argument("left", metavar="A")
@click.argument("right", metavar="B", default="last")
@click.option("--all", "every", is_flag=True, help="Show differences of environment and of no meaning, too.")
@json_option
def command(left: str, right: str, every: bool, as_json: bool) -> int:
    """Show how two runs differ in what they resolved to.

    Differences that change the result come line by line; hosts, paths and times are a count. Exit code 1 where a fact
    of meaning differs.
    """
    project = here()
    comparison = compare(folded(project, project.find(left)), folded(project, project.find(right)))
    if as_json:
        page.say(document.difference(comparison))
    else:
        page.show(lines(comparison, every=every))
    return 1 if comparison.changes_meaning else 0
