"""``affidavit tokens``: the tokens that carry the loss, lit in the text they came from."""

from __future__ import annotations

from dataclasses import replace

import click

from affidavit.case import Case
from affidavit.cli import page
from affidavit.cli.judgement import judged
from affidavit.cli.kept import kept
from affidavit.cli.parameter import example, json_option, run_argument
from affidavit.cli.project import here
from affidavit.report import document, tokens
from affidavit.report.terminal import Line, Span, Tone, line


@click.command(
    short_help="Show which tokens the loss is computed on.", epilog=example("affidavit tokens last --rows 4")
)
@run_argument
@click.option("--rows", default=8, show_default=True, type=click.IntRange(min=1), help="Show so many rows.")
@click.option("--rank", default=0, show_default=True, type=click.IntRange(min=0), help="Whose rows.")
@click.option(
    "--training", type=click.IntRange(min=1), metavar="N", help="Of a script that trains more than once; else the last."
)
@click.option("--full", is_flag=True, help="Fold nothing.")
@json_option
def command(run: str, rows: int, rank: int, training: int | None, full: bool, as_json: bool) -> int:
    """Show which tokens the loss is computed on, by role and turn, and in the text itself.

    What carries the loss stands in ⟦ ⟧. The text stays in the run's own folder and is in no export; tokens = "ids" or
    "off" under [run] in affidavit.toml, or "affidavit run --tokens", keeps it out of there, too.
    """
    project = here()
    found = project.find(run)
    case = _at(judged(project, found).case, training)
    rows_kept = kept(found.folder, case, rank)
    if as_json:
        page.say(
            {
                "run": found.id,
                "rank": rank,
                "training": case.episode + 1,
                "tokens": None if isinstance(rows_kept, str) else document.spans(rows_kept),
            }
        )
        return 0
    if case.subject.episodes > 1:
        page.show([line(Span(f"training {case.episode + 1} of {case.subject.episodes}", Tone.STRONG))])
    page.show(tokens.headline(case))
    page.show([_missing(rows_kept)] if isinstance(rows_kept, str) else tokens.rows(rows_kept, limit=rows, full=full))
    return 0


def _at(case: Case, training: int | None) -> Case:
    """Return the case at one training, the last by default."""
    held = case.subject.episodes
    if training is not None and training > held:
        raise click.UsageError(f"--training {training}: the run has {held}.")
    return replace(case, episode=(training or held) - 1)


def _missing(why: str) -> Line:
    return line(Span(f"no rows to show: {why}", Tone.DOUBT))
