"""``affidavit ls``: the runs of this project; what is over and not sealed yet is sealed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from affidavit.cli import page
from affidavit.cli.judgement import status_of
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here
from affidavit.fact.errors import AffidavitError
from affidavit.record.manifest import Manifest
from affidavit.record.runs import RunFolder
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run.sealing import ensure_sealed


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One run as a list shows it; ``status`` is the reason where it cannot be read."""

    run: str
    started: str
    recipe: str
    status: str
    is_readable: bool = True


@click.command(epilog=example("affidavit ls"))
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="Show so many, newest first.")
@json_option
def command(limit: int, as_json: bool) -> int:
    """List the runs of this project, the newest first.

    A run that was killed together with its supervisor is sealed now.
    """
    project = here()
    held = project.runs()
    entries = [_entry(project, run) for run in reversed(held[-limit:])]
    if as_json:
        page.say({"runs": [{name: getattr(entry, name) for name in Entry.__dataclass_fields__} for entry in entries]})
    else:
        page.show(_lines(entries, len(held) - len(entries)))
    return 0


def _entry(project: Project, run: RunFolder) -> Entry:
    try:
        found = ensure_sealed(run.folder, project.vocabulary)
    except AffidavitError as error:
        said = str(error).partition("\n")[0]
        return Entry(run=run.id, started="", recipe="", status=said, is_readable=False)
    if isinstance(found, Manifest):
        started = f"{found.attempts[0].started:%Y-%m-%d %H:%M}" if found.attempts else ""
        return Entry(run=run.id, started=started, recipe=found.recipe, status=status_of(found))
    return Entry(run=run.id, started="", recipe="", status=status_of(found))


def _lines(entries: list[Entry], older: int) -> Iterator[Line]:
    if not entries:
        yield line('no run yet: put "affidavit run --" in front of your training command')
        return
    indent = max(len(entry.run) for entry in entries) + 2
    for entry in entries:
        tone = Tone.PLAIN if entry.is_readable else Tone.BAD
        about = "  ".join(part for part in (entry.started, entry.recipe) if part)
        yield line(Span(entry.status, tone), Span(f"  {about}", Tone.FAINT), head=entry.run, indent=indent)
    if older > 0:
        yield line(Span(f"and {older} older: --limit", Tone.FAINT))
