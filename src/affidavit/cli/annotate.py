"""``affidavit annotate``: a correction that says what falls and what survives."""

from __future__ import annotations

import click

from affidavit.cli import page
from affidavit.cli.author import author_of
from affidavit.cli.judgement import sealed
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import here
from affidavit.record.annotation import by_subject
from affidavit.record.chain import annotate
from affidavit.record.seal import read_sealed
from affidavit.report.terminal import Span, Tone, line

_EXAMPLE = "affidavit annotate last --falls 'attention.*' --survives 'tokens.*' --reason 'profiled another seat'"


@click.command(short_help="Correct a sealed run, which itself is never edited.", epilog=example(_EXAMPLE))
@click.argument("run", metavar="RUN")
@click.option(
    "--falls", multiple=True, metavar="TERM", help="What no reader may use any longer; repeat it, or 'group.*'."
)
@click.option("--survives", multiple=True, metavar="TERM", help="What you looked at and found to stand.")
@click.option("--reason", required=True, help="Why.")
@click.option("--author", default="", help="Who says so; by default git's user.name, else the login name.")
@json_option
def command(
    run: str, falls: tuple[str, ...], survives: tuple[str, ...], reason: str, author: str, as_json: bool
) -> int:
    """Correct a sealed run: say what of it falls and what survives. The sealed record itself is never edited.

    What falls is unknown to every later reader, and so is all that was derived from it. What you name on neither side
    is written down as not reviewed.
    """
    project = here()
    folder = sealed(project, project.find(run))
    said = annotate(folder, falls=falls, survives=survives, reason=reason, author=author or author_of(project.root))
    project.attest_correction(folder)
    if as_json:
        page.say(
            {
                "number": said.seq,
                "kind": said.kind.value,
                "falls": list(said.falls),
                "survives": list(said.survives),
                "not_reviewed": list(said.not_reviewed),
            }
        )
        return 0
    present = {fact.name for fact in read_sealed(folder).manifest.facts}
    fallen, standing = (", ".join(by_subject(terms, present)) for terms in (said.falls, said.survives))
    indent = len("not reviewed  ")
    page.show(
        [
            line(Span(f"{said.kind.value} #{said.seq} of {folder.name}", Tone.STRONG)),
            line(fallen or "nothing", head="falls", indent=indent),
            line(standing or "nothing named", head="survives", indent=indent),
            line(", ".join(said.not_reviewed) or "nothing", head="not reviewed", indent=indent),
        ]
    )
    return 0
