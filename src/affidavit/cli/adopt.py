"""``affidavit adopt``: a sealed record of what somebody else wrote down."""

from __future__ import annotations

from pathlib import Path

import click

from affidavit.cli import page
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import here, runs_folder
from affidavit.report.terminal import Span, Tone, line
from affidavit.run.adopt import adopt


@click.command(
    short_help="Seal what somebody else says of a model.",
    epilog=example("affidavit adopt their-model/README.md --name theirs"),
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", default="", help="What the record is called by; by default what PATH is called.")
@json_option
def command(path: Path, name: str, as_json: bool) -> int:
    """Seal what PATH says: a JSON, TOML or YAML manifest, a model card, a trainer state, or a checkpoint's folder.

    Each value stands as declared, with its file and its key: nobody of ours saw it, so no check passes by it. The
    record can be shown, compared with a run, and corrected; "affidavit annotate" retracts a card that does not hold.
    Nothing in PATH is executed, and pickles are not opened.
    """
    project = here()
    found = adopt(path, runs=runs_folder(project.root), vocabulary=project.vocabulary, name=name)
    if found.is_new:
        project.attest(found.folder)
    terms = [fact.name for fact in found.record.facts if not fact.name.startswith("foreign.")]
    if as_json:
        page.say(
            {
                "record": found.folder.name,
                "new": found.is_new,
                "values": found.values,
                "terms": terms,
                "unread": list(found.unread),
                "notes": list(found.record.notes),
            }
        )
        return 0
    what = "sealed" if found.is_new else "was adopted before"
    told = f": {found.values:,} {'value' if found.values == 1 else 'values'}, {len(terms)} of them under our terms"
    page.show([line(Span(found.folder.name, Tone.STRONG), f" {what}", told)])
    page.show([line(Span(f"not read: {one}", Tone.DOUBT)) for one in found.unread])
    page.show([line(Span(f"affidavit diff {found.folder.name} last", Tone.ACTION), head="next", indent=6)])
    return 0
