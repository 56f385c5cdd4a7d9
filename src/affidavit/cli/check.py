"""``affidavit check``: the verdict on a run, or on the project as it lies there, as an exit code."""

from __future__ import annotations

import os
from pathlib import Path

import click

from affidavit.cli import page
from affidavit.cli.judgement import before, judged
from affidavit.cli.parameter import LAST, example, json_option, strict_option
from affidavit.cli.project import Project, here, today
from affidavit.report import document, text
from affidavit.report.statement import Statement
from affidavit.run.command import read_command
from affidavit.run.outset import examine
from affidavit.run.proofs.standing import Inquiry


@click.command(
    short_help="Judge a run; the verdict is the exit code.",
    epilog=example("affidavit check --project -- python train.py --config big.yaml"),
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[RUN | --project -- COMMAND...]")
@click.option("--project", "of_project", is_flag=True, help="Judge what a command would run, without running it.")
@strict_option
@json_option
def command(words: tuple[str, ...], of_project: bool, strict: bool, as_json: bool) -> int:
    """Judge a run by every check it owes: 0 clean, 1 a check failed, 4 something is unknown.

    With --project nothing is run and nothing is written: the files that the command would run are judged as they lie
    there. A waiver in affidavit.toml changes what blocks, and never what was found.
    """
    project = here()
    if of_project:
        said = _as_it_lies(project, words, strict=strict)
    elif len(words) > 1:
        raise click.UsageError("one run at a time; a command to judge stands after --project --.")
    else:
        said = judged(project, project.find(words[0] if words else LAST), strict=strict)
    if as_json:
        page.say(document.statement(said))
    else:
        page.show(text.report(said))
    return said.decision.exit_code


def _as_it_lies(project: Project, argv: tuple[str, ...], *, strict: bool) -> Statement:
    if not argv:
        raise click.UsageError("--project needs the command that would run: affidavit check --project -- COMMAND.")
    settings = project.settings
    command = read_command(argv, cwd=Path.cwd(), environment=os.environ)
    answer = examine(
        command,
        project=project.root,
        environment=os.environ,
        settings=settings,
        house=project.house,
        gate="refuse" if settings.gate == "snapshot" else settings.gate,
        reason=settings.gate_reason,
        keeps=False,
        inquiry=Inquiry(as_of=today()),
    )
    return before(project, answer.facts, title="this project", strict=strict)
