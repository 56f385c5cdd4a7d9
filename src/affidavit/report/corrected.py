"""What was said of a file that is no run: each correction in three lines, then every name of it and how it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from affidavit.fact.observation import Known
from affidavit.fact.values import Table
from affidavit.record.annotation import FILES, VALUES, Annotation, Extent, by_subject, present
from affidavit.record.fold import EVERYTHING
from affidavit.record.record import Record
from affidavit.report.document import Document, annotation
from affidavit.report.terminal import Line, Span, Tone, line

SURVIVES, NOT_REVIEWED = "survives", "not reviewed"
REASON = 400
"""Characters of a reason that stand open: a longer one would push the verdict from the screen."""
_INDENT = 16
_NOT_REVIEWED = 8
"""More names than this of what nobody looked at are a count: they are all that is on neither side."""


@dataclass(frozen=True, kw_only=True)
class Named:
    """A part of a file: its name, how it stands, and what the file says there."""

    name: str
    standing: str
    said: str

    @property
    def falls(self) -> bool:
        return self.standing not in (SURVIVES, NOT_REVIEWED)


def names(record: Record, annotations: Sequence[Annotation]) -> Iterator[Named]:
    """Yield every name of a record as it was sealed, and how it stands by the corrections."""
    fallen: dict[str, str] = {}
    reviewed: set[str] = set()
    for one in annotations:
        reviewed.update(one.survives)
        for name in one.falls:
            fallen.setdefault(name, f"FALLS since #{one.seq}: {one.reason}")
    said = {key: value for key, value, *_ in _rows(record, VALUES)}
    for name in present(record):
        standing = fallen.get(name) or (SURVIVES if name in reviewed else NOT_REVIEWED)
        yield Named(name=name, standing=standing, said=said.get(name, ""))


def lines(record: Record, annotations: Sequence[Annotation], *, called: str) -> Iterator[Line]:
    """Yield what was said of a file, and name by name what still stands."""
    digest = record.subject.rpartition("-")[2]
    yield line(Span(called, Tone.STRONG), Span(f"  sha256:{digest[:12]}…", Tone.FAINT))
    yield from corrections(annotations, present(record))
    yield line()
    for one in names(record, annotations):
        tone = Tone.BAD if one.falls else Tone.PLAIN if one.standing == SURVIVES else Tone.FAINT
        was = f" (was: {one.said})" if one.falls and one.said else f"  {one.said}" if one.said else ""
        yield line(one.name, "  ", Span(one.standing, tone), Span(was, Tone.FAINT), indent=2)


def corrections(annotations: Iterable[Annotation], held: Iterable[str]) -> Iterator[Line]:
    """Yield each correction: its kind, who and why, then what falls, survives and was not reviewed, a line each."""
    of = tuple(held)
    for one in annotations:
        yield title(one)
        yield line(falls(one, of), head="  falls", indent=_INDENT)
        yield line(", ".join(by_subject(one.survives, of)) or "nothing named", head="  survives", indent=_INDENT)
        more = len(one.not_reviewed) - _NOT_REVIEWED
        left = ", ".join(one.not_reviewed[:_NOT_REVIEWED]) + (f" and {more} more" if more > 0 else "")
        yield line(left or "nothing", head="  not reviewed", indent=_INDENT)


def title(one: Annotation) -> Line:
    """Return a correction in one paragraph: its kind, who said it when, and why, as far as there is room for it."""
    by = f", by {one.by}" if one.by else ""
    more = len(one.reason) - REASON
    why = f"{one.reason[:REASON]}… and {more:,} more characters; --json has them all" if more > 0 else one.reason
    who = f" #{one.seq} ({one.author}, {one.time.date().isoformat()}){by}: {why}"
    return line(Span(one.kind.value, Tone.BAD if one.falls else Tone.STRONG), who)


def falls(one: Annotation, held: Iterable[str]) -> str:
    """Return what falls by a correction, by subject."""
    return EVERYTHING if one.kind is Extent.RETRACTION else ", ".join(by_subject(one.falls, held)) or "nothing"


def document(record: Record, annotations: Sequence[Annotation], *, called: str) -> Document:
    """Return the same for programs."""
    return {
        "path": called,
        "artifact": record.subject,
        "files": [{"path": row[0], "digest": row[1], "bytes": row[2]} for row in _rows(record, FILES)],
        "annotations": [annotation(one) for one in annotations],
        "names": [{"name": one.name, "standing": one.standing, "said": one.said} for one in names(record, annotations)],
    }


def _rows(record: Record, name: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table as text; what has too few cells is none of ours."""
    for fact in record.facts:
        if fact.name == name and isinstance(fact.state, Known) and isinstance(fact.state.value, Table):
            yield from (tuple(map(str, row)) for row in fact.state.value.rows if len(row) > 1 + (name == FILES))
