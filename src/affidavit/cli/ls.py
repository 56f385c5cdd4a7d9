"""``affidavit ls``: the runs of this project; what is over and not sealed yet is sealed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from affidavit.check.finding import Verdict
from affidavit.cli import page
from affidavit.cli.judgement import judged, status_of
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import Project, here
from affidavit.fact.errors import AffidavitError
from affidavit.record.manifest import Manifest
from affidavit.record.runs import RunFolder
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run.sealing import ensure_sealed


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One run as a list shows it; ``status`` is the reason where it cannot be read.

    Args:
        stands: the status, with the word for it where all of the run was taken back.
        verdicts: counted as the checks of today give them; a run that is not over has none yet.
    """

    run: str
    started: str
    recipe: str
    status: str
    stands: str = ""
    verdicts: tuple[tuple[str, int], ...] = ()
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
        page.say({"runs": [asdict(entry) | {"verdicts": dict(entry.verdicts)} for entry in entries]})
    else:
        page.show(_lines(entries, len(held) - len(entries)))
    return 0


def _entry(project: Project, run: RunFolder) -> Entry:
    try:
        return _readable(project, run)
    except AffidavitError as error:
        said = str(error).partition("\n")[0]
        return Entry(run=run.id, started="", recipe="", status=said, is_readable=False)


def _readable(project: Project, run: RunFolder) -> Entry:
    found = ensure_sealed(run.folder, project.vocabulary, project.attest)
    if isinstance(found, Manifest):
        started = f"{found.attempts[0].started:%Y-%m-%d %H:%M}" if found.attempts else ""
        said = judged(project, run)
        return Entry(
            run=run.id,
            started=started,
            recipe=found.recipe,
            status=said.status,
            stands=said.stands,
            verdicts=tuple((verdict.value, count) for verdict, count in said.decision.counts),
        )
    return Entry(run=run.id, started="", recipe="", status=status_of(found))


def _lines(entries: list[Entry], older: int) -> Iterator[Line]:
    if not entries:
        yield line('no run yet: put "affidavit run --" in front of your training command')
        return
    indent = max(len(entry.run) for entry in entries) + 2
    for entry in entries:
        tone = Tone.PLAIN if entry.is_readable else Tone.BAD
        is_dated = entry.run.startswith(entry.started[:10].replace("-", ""))  # an id of ours, not a scheduler's
        about = "  ".join(part for part in ("" if is_dated else entry.started, entry.recipe) if part)
        stands = Span(entry.stands or entry.status, tone)
        yield line(stands, *_loud(entry), Span(f"  {about}", Tone.FAINT), head=entry.run, indent=indent)
    if older > 0:
        yield line(Span(f"and {older} older: --limit", Tone.FAINT))


def _loud(entry: Entry) -> Iterator[Span]:
    """Yield what a list must not hide; a run about which there is nothing to say gets one mark."""
    tones = {Verdict.FAIL: Tone.BAD, Verdict.UNKNOWN: Tone.DOUBT, Verdict.REVIEW: Tone.DOUBT}
    counts = dict(entry.verdicts)
    loud = [
        Span(f"  {counts[verdict.value]} {verdict.value}", tone)
        for verdict, tone in tones.items()
        if verdict.value in counts
    ]
    yield from loud or ([Span("  ✓", Tone.GOOD)] if counts.get(Verdict.PASS.value) else [])
