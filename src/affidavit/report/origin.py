"""Where a model came from, as a person reads it: what falls first, then what holds, then the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from affidavit.fact.observation import Known, Unknown
from affidavit.fact.values import Table
from affidavit.record.annotation import Annotation, closure, present
from affidavit.record.record import Record
from affidavit.report.corrected import corrections
from affidavit.report.document import Document, annotation
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run.origin import ABSENT, AS_WRITTEN, CHANGED, STRANGE, Mark, Origin, Verdict

SHOWN = 4
_INDENT = 12
_COMMIT = ("tree.commit", "code.commit")
_DEVIATIONS = ("code.deviations", "tree.deviations")
_MARKS = {
    Verdict.INTACT: Span("✓", Tone.GOOD),
    Verdict.CHANGED: Span("✗", Tone.BAD),
    Verdict.CONTRADICTED: Span("✗", Tone.BAD),
    Verdict.UNCOMPARED: Span("?", Tone.DOUBT),
    Verdict.CLAIMED: Span("?", Tone.DOUBT),
    Verdict.UNKNOWN: Span("?", Tone.DOUBT),
}


@dataclass(frozen=True, kw_only=True)
class About:
    """The run that a model came from, as far as it can be read: "" and nothing where it is not over yet.

    Args:
        record: without its corrections, so that what fell since can still be named.
        verdicts: how many checks say what, and which do not pass.
        own: the corrections of these very files, whoever wrote them; ``held`` are the names that they speak of.
    """

    status: str = ""
    recipe: str = ""
    record: Record | None = None
    annotations: tuple[Annotation, ...] = ()
    verdicts: str = ""
    own: tuple[Annotation, ...] = ()
    held: tuple[str, ...] = ()

    @property
    def falls(self) -> bool:
        """Whether a correction stands that takes anything of the run back."""
        return any(one.falls for one in (*self.own, *self.annotations))


def exit_code(origin: Origin, about: About) -> int:
    """Return 0 where the run is known and all of it holds, 1 where something contradicts or fell, 4 where not known."""
    return 1 if about.falls else origin.verdict.exit_code


def lines(origin: Origin, about: About) -> Iterator[Line]:
    """Yield what is known of where a path came from, in the order in which it matters."""
    yield from corrections(about.own, about.held)  # whoever is about to use the model must not read past these
    yield from corrections(about.annotations, present(about.record) if about.record else ())
    yield line(Span(str(origin.path), Tone.STRONG), f": {_said(origin)}", head=_MARKS[origin.verdict], indent=2)
    yield from (line(text, indent=2) for text in _details(origin))
    if origin.run is None:
        yield from _claim(origin.mark)
        return
    yield from _run(origin, about)
    yield line(Span(f"affidavit show {origin.run.id}", Tone.ACTION), head="next", indent=_INDENT)


def document(origin: Origin, about: About) -> Document:
    """Return the same for programs."""
    place, mark = origin.place, origin.mark
    return {
        "path": str(origin.path),
        "verdict": origin.verdict.name.lower(),
        "why": origin.why,
        "exit_code": exit_code(origin, about),
        "run": origin.run.id if origin.run else "",
        "status": about.status,
        "recipe": about.recipe,
        "commit": _commit(about.record) if about.record else "",
        "tree": _tree(about.record) if about.record else "",
        "place": {"path": place.path, "form": place.form, "step": place.step, "time": place.time} if place else None,
        "files": [{"name": one.name, "state": one.state} for one in origin.files],
        "others": list(origin.others),
        "mark": {name: getattr(mark, name) for name in Mark.__dataclass_fields__} if mark else None,
        "annotations": [annotation(one) for one in about.annotations],
        "own": [annotation(one) for one in about.own],
        "verdicts": about.verdicts,
    }


def _said(origin: Origin) -> str:
    written, changed, strange = (origin.of(state) for state in (AS_WRITTEN, CHANGED, STRANGE))
    held = len(written) + len(changed)
    if origin.verdict is Verdict.CONTRADICTED:
        return f"affidavit.json is not about these files: {origin.why}"
    if origin.verdict in (Verdict.UNKNOWN, Verdict.CLAIMED):
        return str(origin.verdict.value)
    if origin.verdict is Verdict.UNCOMPARED:
        return f"{origin.verdict.value}; {origin.why}"
    if not held:
        return f"none of {len(strange)} files are what the run wrote"
    as_found = "adopted" if origin.place is not None and origin.place.form == "adopted" else "written"
    return f"{len(written)} of {held} {'file' if held == 1 else 'files'} as {as_found}"


def _details(origin: Origin) -> Iterator[str]:
    changed, strange, absent = (origin.of(state) for state in (CHANGED, STRANGE, ABSENT))
    if changed:
        yield f"{_listed(changed)} {'was' if len(changed) == 1 else 'were'} changed since"
    if strange:
        yield f"not among what it wrote: {_listed(strange)}"
    if absent:
        yield f"written as well, and not here: {_listed(absent)}"
    if origin.others:
        yield f"the same weights were written by {_listed(origin.others)}"
    if origin.why and origin.verdict in (Verdict.INTACT, Verdict.CHANGED):
        yield origin.why


def _claim(mark: Mark | None) -> Iterator[Line]:
    """Yield what the mark of a model says of a run that is not here; nobody here can say whether it is so."""
    if mark is None:
        return
    yield line(
        f"run {mark.run}, attempt {mark.attempt + 1}, step {mark.step}, {mark.time}", head="it claims", indent=12
    )
    about = [f"recipe {mark.recipe}" if mark.recipe else "", f"commit {mark.commit[:12]}" if mark.commit else ""]
    about += [f"tree {mark.tree}" if mark.tree else "", f"affidavit {mark.affidavit}"]
    yield line(", ".join(filter(None, about)), indent=_INDENT)


def _run(origin: Origin, about: About) -> Iterator[Line]:
    run, place = origin.run, origin.place
    if run is None:
        return
    status = f" · {about.status}" if about.status else ""
    yield line(Span(run.id, Tone.STRONG), status, head="adopted" if run.is_adopted else "run", indent=_INDENT)
    if place is not None and place.form != "adopted":
        yield line(f"step {place.step}, {place.time}, as {place.path}", head="written", indent=_INDENT)
    elif origin.mark is not None and place is None:
        yield line(f"step {origin.mark.step}, {origin.mark.time} (claimed)", head="written", indent=_INDENT)
    if about.recipe:
        yield line(about.recipe, head="recipe", indent=_INDENT)
    if about.record is not None and not run.is_adopted:
        said = f"{_commit(about.record)}; {_tree(about.record)}"
        yield line(said, Span(_fell(about.record, about.annotations), Tone.BAD), head="commit", indent=_INDENT)
    if about.verdicts:
        yield line(about.verdicts, head="verdicts", indent=_INDENT)


def _fell(record: Record, annotations: Sequence[Annotation]) -> str:
    """Say since when what is told of the code is taken back, wholly or in part, or nothing."""
    for one in annotations:
        if not closure(one.falls, record.vocabulary).isdisjoint((*_COMMIT, *_DEVIATIONS)):
            return f"  FALLS since #{one.seq}"
    return ""


def _commit(record: Record) -> str:
    for name in _COMMIT:
        for fact in record.facts:
            if fact.name == name and isinstance(fact.state, Known):
                return str(fact.state.value)
    return "unknown"


def _tree(record: Record) -> str:
    """Say whether the commit holds what ran: by the files that were loaded, else by those that were found before."""
    why = "nobody looked"
    for name in _DEVIATIONS:
        for fact in record.facts:
            if fact.name != name:
                continue
            if isinstance(fact.state, Unknown):
                why = fact.state.why or fact.state.cause.value
            elif isinstance(fact.state.value, Table):
                paths = [str(path) for path in fact.state.value.column("path")] if fact.state.value.rows else []
                return f"not all that ran is in it: {_listed(paths)}" if paths else "all that ran is in it"
    return f"whether it holds what ran is unknown: {why}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
