"""``affidavit retract``: take a whole run back, and see what was built on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from affidavit.claims.wording import as_written
from affidavit.cli import page
from affidavit.cli.judgement import sealed
from affidavit.cli.parameter import example, json_option
from affidavit.cli.project import here
from affidavit.observe.person import author_of
from affidavit.record import chain
from affidavit.record.annotation import Annotation, Extent
from affidavit.report.document import Document
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run.built import Built, Claimed, Standing, standing_on
from affidavit.run.saved import seals

_INDENT = 14
_SHOWN = 8


@click.command(
    short_help="Take a run back, and list what was built on it.",
    epilog=example("affidavit retract last --why 'the labels of shard 7 were shifted by one' --dry-run"),
)
@click.argument("run", metavar="RUN")
@click.option("--why", required=True, help="Why nothing of it stands any longer.")
@click.option("--author", default="", help="Who says so; by default git's user.name, else the login name.")
@click.option("--dry-run", is_flag=True, help="List what it would touch, and write nothing.")
@json_option
def command(run: str, why: str, author: str, dry_run: bool, as_json: bool) -> int:
    """Retract every fact of a sealed run, and list what stands on it: runs that read what it made or resumed from it,
    measurements taken in it, the claims of those, the texts that name it, and the cards beside what it saved.

    Only the run itself is annotated. What is listed is for you to judge.
    """
    if not why.strip():
        raise click.UsageError("--why says why nothing of the run stands any longer.")
    project = here()
    found = project.find(run)
    folder = sealed(project, found)
    others = project.runs()
    for one in others:
        seals(one, project.attest)
    touched = standing_on(found, others, project.root)
    said = next((one for one in chain.read(folder) if one.kind is Extent.RETRACTION), None)
    if said is not None and not dry_run:
        page.tell((f"it was taken back before (#{said.seq}: {said.reason}); nothing was written now",))
    if said is None and not dry_run:
        said = chain.annotate(folder, falls=["*"], reason=why, author=author or author_of(project.root))
        project.attest_correction(folder)
    if as_json:
        page.say(_document(found.id, said, touched))
    else:
        page.show(_lines(found.id, said, touched))
    return 0


def _document(run: str, said: Annotation | None, touched: Standing) -> Document:
    return {
        "run": run,
        "annotation": said.seq if said is not None else None,
        "runs": [
            {"run": one.run.id, "on": one.on, "why": list(one.why), "is_proved": one.is_proved} for one in touched.runs
        ],
        "measurements": [
            {"name": one.name, "value": one.value, "unit": one.unit, "run": one.run} for one in touched.measurements
        ],
        "claims": [_place(one) for one in touched.claims],
        "documents": [_place(one) for one in touched.documents],
        "cards": [_place(one) for one in touched.cards],
        "unread": list(touched.unread),
    }


def _place(one: Claimed) -> dict[str, str | int]:
    return {"path": one.path, "line": one.line, "said": one.said, "of": one.of}


def _lines(run: str, said: Annotation | None, touched: Standing) -> Iterator[Line]:
    head = f"{said.kind.value} #{said.seq} of {run}" if said is not None else f"retracting {run} would touch this"
    yield line(Span(head, Tone.STRONG))
    if touched.is_empty:
        yield line("nothing of this project that can be seen", head="built on it", indent=_INDENT)
    yield from _group("run", [_of_run(one) for one in touched.runs])
    yield from _group("measurement", [f"{one.name} {as_written(one)}" for one in touched.measurements])
    yield from _group("claim", [f"{one.path}:{one.line} {one.said} ({one.of})" for one in touched.claims])
    yield from _group("names it", [f"{one.path}:{one.line} ({one.of})" for one in touched.documents])
    yield from _group("card", [f"{one.path} ({one.of})" for one in touched.cards])
    if touched.unread:
        yield from _group("not read", list(touched.unread))
    if touched.current:
        names = " ".join(touched.current)
        yield line(Span(f"affidavit claims supersede {names} --why TEXT", Tone.ACTION), head="next", indent=_INDENT)
    elif touched.runs:
        first = touched.runs[0].run.id
        yield line(Span(f"affidavit retract {first} --why TEXT --dry-run", Tone.ACTION), head="next", indent=_INDENT)


def _of_run(one: Built) -> str:
    more = f" (+{len(one.why) - 1})" if len(one.why) > 1 else ""
    doubt = "" if one.is_proved else "perhaps: "
    return f"{one.run.id}, on {one.on}: {doubt}{one.why[0]}{more}"


def _group(head: str, texts: Sequence[str]) -> Iterator[Line]:
    for number, text in enumerate(texts[:_SHOWN]):
        yield line(text, head=head if number == 0 else "", indent=_INDENT)
    if len(texts) > _SHOWN:
        yield line(f"and {len(texts) - _SHOWN} more; --json lists all", indent=_INDENT)
