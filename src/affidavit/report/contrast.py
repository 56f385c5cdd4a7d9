"""One difference in English: both values in one sentence, of long ones the parts, and who decided each."""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.fact.observation import Known
from affidavit.fact.values import Layers, Table, Tally, Value
from affidavit.record.compare import Difference
from affidavit.record.owner import UNSEEN, asked_for, owner
from affidavit.record.record import Kind, Record
from affidavit.record.sentence import clipped, phrased, row, short, usual

LEFT, RIGHT = "A", "B"
_LONG = 60
_PARTS_SHOWN = 4


@dataclass(frozen=True, kw_only=True)
class Change:
    """A difference in English: what each side says, who decided it there, and what moved with it.

    ``under`` is the term that explains it, where another that differs does; ``is_locked`` where a lock may hold it.
    """

    difference: Difference
    said: str
    left_by: str = ""
    right_by: str = ""
    under: str = ""
    is_locked: bool = False


def told(left: Record, right: Record, found: Difference, under: str) -> Change:
    """Return a difference in English, under the term that explains it."""
    ours, theirs = value_of(left, found.name), value_of(right, found.name)
    term = left.vocabulary[found.name]
    if ours is None or theirs is None:
        said = phrased(term, _sides(clipped(found.left), clipped(found.right)))
    elif usual(term, ours) or usual(term, theirs):
        said = _sides(*(usual(term, value) or phrased(term, short(value)) for value in (ours, theirs)))
    else:
        said = phrased(term, _contrast(ours, theirs, found.where))
    return Change(
        difference=found,
        said=said,
        left_by=_by(left, found.name),
        right_by=_by(right, found.name),
        under=under,
        is_locked=term.lock,
    )


def _sides(ours: str, theirs: str) -> str:
    return f"{ours} ({LEFT}) / {theirs} ({RIGHT})"


def _contrast(ours: Value, theirs: Value, where: tuple[str, ...]) -> str:
    """Return two values beside each other; of long ones only the parts that differ."""
    if isinstance(ours, Layers) and isinstance(theirs, Layers) and (len(ours.runs) > 1 or len(theirs.runs) > 1):
        return _some([part.replace(" → ", f" ({LEFT}) / ", 1) + f" ({RIGHT})" for part in where])
    if isinstance(ours, Tally) and isinstance(theirs, Tally):
        kinds = sorted({*ours.kinds, *theirs.kinds})
        return _some(
            [f"{kind} {_sides(f'{ours[kind]:,}', f'{theirs[kind]:,}')}" for kind in kinds if ours[kind] != theirs[kind]]
        )
    if isinstance(ours, Table) and isinstance(theirs, Table):
        only = [f"{row(cells)} ({LEFT})" for cells in ours.rows if cells not in theirs.rows]
        return _some(only + [f"{row(cells)} ({RIGHT})" for cells in theirs.rows if cells not in ours.rows])
    texts = short(ours), short(theirs)
    if isinstance(ours, tuple) and isinstance(theirs, tuple) and max(map(len, texts)) > _LONG:
        texts = (
            ", ".join(item for item in ours if item not in theirs) or "the others",
            ", ".join(item for item in theirs if item not in ours) or "the others",
        )
    return _sides(*texts)


def _some(parts: list[str]) -> str:
    more = f"; and {len(parts) - _PARTS_SHOWN} more" if len(parts) > _PARTS_SHOWN else ""
    return clipped("; ".join(parts[:_PARTS_SHOWN])) + more


def _by(record: Record, name: str) -> str:
    """Return who decided a fact of a record: a request, or who filled what nobody asked for; nothing where unseen."""
    if record.kind is Kind.LOCK:
        return next((fact.state.source for fact in record.find(name) if isinstance(fact.state, Known)), "")
    if record.kind is Kind.FOREIGN:
        stated = (fact.state.source for fact in record.find(name) if isinstance(fact.state, Known))
        return next((f"declared only, by {source}" for source in stated), "")
    source = asked(record, name)
    if source:
        return f"asked for by {source}"
    said = next((owner(record, fact) for fact in record.find(name) if isinstance(fact.state, Known)), "")
    return "" if said in UNSEEN else said


def asked(record: Record, name: str) -> str:
    """Return the source of the request for a term, or nothing where nobody made one."""
    return next(filter(None, (asked_for(record, fact) for fact in record.find(name))), "")


def value_of(record: Record, name: str) -> Value | None:
    """Return what all ranks that know a term say of it, or None where they differ."""
    values = [fact.state.value for fact in record.find(name) if isinstance(fact.state, Known)]
    return values[0] if values and all(value == values[0] for value in values) else None
