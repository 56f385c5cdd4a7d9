"""``affidavit check``: the verdict on a run, or on the project as it lies there, as an exit code."""

from __future__ import annotations

import click

from affidavit.cli import page
from affidavit.cli.judgement import judged
from affidavit.cli.parameter import example, json_option, run_argument, strict_option
from affidavit.cli.project import here
from affidavit.report import document, text


@click.command(epilog=example("affidavit check last --strict"))
@run_argument
@strict_option
@json_option
def command(run: str, strict: bool, as_json: bool) -> int:
    """Judge a run by every check it owes: 0 clean, 1 a check failed, 4 something is unknown.

    A waiver in affidavit.toml changes what blocks, and never what was found.
    """
    project = here()
    said = judged(project, project.find(run), strict=strict)
    if as_json:
        page.say(document.statement(said))
    else:
        page.show(text.report(said))
    return said.decision.exit_code
