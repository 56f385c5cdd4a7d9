"""``affidavit tokens``: the tokens that carry the loss, lit in the text they came from."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import click

from affidavit.case import Case
from affidavit.cli import page
from affidavit.cli.judgement import judged
from affidavit.cli.parameter import example, json_option, run_argument
from affidavit.cli.project import here
from affidavit.fact import folder as names
from affidavit.fact.errors import refusal
from affidavit.fact.observation import Unknown
from affidavit.fact.values import Digest
from affidavit.report import document, tokens
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.report.tokens import Spans, TokensError

TERM = "tokens.lit_spans"


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
    kept = _kept(found.folder, case, rank)
    if as_json:
        page.say(
            {
                "run": found.id,
                "rank": rank,
                "training": case.episode + 1,
                "tokens": None if isinstance(kept, str) else document.spans(kept),
            }
        )
        return 0
    if case.subject.episodes > 1:
        page.show([line(Span(f"training {case.episode + 1} of {case.subject.episodes}", Tone.STRONG))])
    page.show(tokens.headline(case))
    page.show([_missing(kept)] if isinstance(kept, str) else tokens.rows(kept, limit=rows, full=full))
    return 0


def _at(case: Case, training: int | None) -> Case:
    """Return the case at one training, the last by default."""
    held = case.subject.episodes
    if training is not None and training > held:
        raise click.UsageError(f"--training {training}: the run has {held}.")
    return replace(case, episode=(training or held) - 1)


def _missing(why: str) -> Line:
    return line(Span(f"no rows to show: {why}", Tone.DOUBT))


def _kept(folder: Path, case: Case, rank: int) -> Spans | str:
    """Return what one rank kept, or why there is nothing.

    Raises:
        TokensError: the file is there and is not what the record says it was.
    """
    fact = next((fact for fact in case.facts(TERM) if rank in fact.ranks), None)
    if fact is None:
        return f"rank {rank} said nothing of them"
    if isinstance(fact.state, Unknown):
        return f"{fact.state.cause.value} ({fact.state.why})"
    digest = fact.state.value
    assert isinstance(digest, Digest)
    path = folder / names.TOKENS / digest.hex
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return f"{path} is gone"
    if hashlib.sha256(content).hexdigest() != digest.hex:
        raise TokensError(
            refusal(
                subject=f"{path}",
                expected=f"the content that was recorded ({digest})",
                saw="other content",
                means="These are not the rows that this run trained on.",
                action='Run "affidavit show" for the counts, which stand in the sealed record.',
                unaffected="every other fact of the run",
            )
        )
    return tokens.parse(content)
