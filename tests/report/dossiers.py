"""Dossiers to draw: a run of which every section has something to show, judged by the checks of the house."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from tests.report.world import DAY

from affidavit import checks
from affidavit.case import SUBJECT, Case
from affidavit.check import judge
from affidavit.check.load import load as load_checks
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Method, Scope
from affidavit.fact.values import Digest, Layers, Series, Table, Tally, Value
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.gate import Waiver, decide
from affidavit.record.annotation import Annotation, Extent
from affidavit.record.fold import fold
from affidavit.record.ledger import Drilled, Ledger
from affidavit.record.manifest import Attempt, Evidence, Interpreter, Launcher, Process, Status, from_record
from affidavit.record.record import Fact, Kind, Record, ordered
from affidavit.report.page.dossier import Dossier, Kept
from affidavit.report.statement import Statement
from affidavit.report.tokens import Row, Spans, Stretch

WORDS = load_vocabulary()
CHECKS = load_checks(checks, WORDS)
RUN = "20260101T120000Z-3f9a1c"
COMMIT = "3fa2b1c0" * 5
MANIFEST = Digest("sha256", "ab" * 32)
SEEN = Digest("sha256", "cd" * 32)
NOON = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)

ABOUT: Mapping[str, Value] = {
    "attention.requested": "sdpa",
    "attention.configured": Layers.of({f"model.layers.{layer}.self_attn": "sdpa" for layer in range(4)}),
    "attention.executed": Tally.count("calls", {"flash": 48}),
    "attention.kernels": ("flash",),
    "code.commit": f"somebody@{COMMIT}",
    "code.deviations": Table(("path", "owner", "verdict"), ()),
    "code.files_by_verdict": Tally.count("files", {"committed": 3, "installed": 2_900, "stdlib": 270}),
    "loop.planned_steps": 12,
    "precision.outside": "unstated",
    "schedule.kind": "linear",
    "schedule.length": 12,
    "schedule.moves": Tally.count("moves", {"moves before": 0, "optimizer steps": 11, "scheduler moves": 11}),
    "schedule.rates": Series(tuple(range(1, 13)), tuple(0.001 * min(step / 4, 1) for step in range(1, 13)), "rate"),
    "schedule.steps_ahead": 12,
    "schedule.warmup_steps": 4,
    "tokens.lit_spans": SEEN,
    "tokens.seen_by_role": Tally.count("tokens", {"assistant": 1_300, "user": 2_010}),
    "tokens.supervised_by_role": Tally.count("tokens", {"assistant": 1_204, "user": 0}),
    "tokens.supervised_roles": ("assistant",),
    "tree.commit": COMMIT,
    "tree.deviations": Table(("path", "verdict"), ()),
    "tree.gate": "refuse",
    "weights.exceptions": Layers((("model.layers.{0..3}.mlp.up_proj", "trains, at rest"),)),
    "weights.moved": Tally.count("tensors", {"frozen at rest": 12, "moved": 40}),
}
ROWS = (
    Row(
        number=0,
        stretches=(
            Stretch(role="user", turn=0, lit=False, tokens=7, text="Is it raining?\n", ids=(4, 5, 6)),
            Stretch(role="assistant", turn=1, lit=True, tokens=5, text="No, it is dry.<eos>", ids=(7, 8, 9)),
        ),
    ),
)


def values() -> dict[str, Value]:
    """Return a healthy value for every term that any check reads, from its own example, and those of this file."""
    found: dict[str, Value] = {}
    for one in CHECKS:
        assert one.example is not None
        for fact in one.example().subject.facts:
            if isinstance(fact.state, Known):
                found.setdefault(fact.name, fact.state.value)
    return {**found, **ABOUT}


def record(*, world: int = 1, changed: Mapping[str, Value] | None = None, blind: tuple[str, ...] = ()) -> Record:
    """Return the record of a run: some facts asked for, some changed, some unknown."""
    facts = []
    for name, value in {**values(), **(changed or {})}.items():
        term = WORDS[name]
        unknown = Unknown(Cause.INSTRUMENT_FAILED, "ValueError in the instrument")
        facts.append(
            Fact(
                name=name,
                state=unknown
                if name in blind
                else Known(value, max(term.least, Method.DECLARED), f"reading of {name}"),
                request=Known(value, Method.DECLARED, "TrainingArguments(…)") if name.startswith("batch.") else None,
                ranks=tuple(range(world)) if term.scope is Scope.RANK else (),
            )
        )
    return Record(kind=Kind.RUN, subject=RUN, facts=ordered(facts), vocabulary=WORDS, world=world)


def dossier(
    held: Record | None = None,
    *,
    annotations: tuple[Annotation, ...] = (),
    waivers: tuple[Waiver, ...] = (),
    rows: tuple[Row, ...] = ROWS,
    notes: tuple[str, ...] = (),
) -> Dossier:
    """Return the dossier of a record, judged by the checks of the house."""
    held = dataclasses.replace(held or record(), notes=notes)
    case = Case(records={SUBJECT: fold(held, annotations)}, as_of=DAY)
    findings = judge(CHECKS, case)
    drilled = (Drilled(check=one.id, date=DAY, caught=9, total=9, affidavit="0.1.0", run=RUN) for one in CHECKS[:30])
    processes = tuple(
        Process(
            identity=f"node-{rank}", host="node.somewhere", pid=100 + rank, rank=rank, world=held.world, closed="exited"
        )
        for rank in range(held.world)
    )
    attempt = Attempt(
        number=0,
        command=("python", "train.py", "--token", "of mine"),
        started=NOON,
        ended=NOON + datetime.timedelta(minutes=61),
        status=Status.FINISHED,
        exit_code=0,
        last_step=12,
        processes=processes,
    )
    return Dossier(
        statement=Statement(
            title=RUN,
            status="FINISHED, step 12",
            case=case,
            checks=CHECKS,
            findings=findings,
            decision=decide(findings, waivers, as_of=DAY),
            ledger=Ledger(drills=tuple(drilled), problems=("instruments.jsonl:3: no JSON",)),
            annotations=annotations,
        ),
        manifest=from_record(
            held,
            affidavit="0.1.0",
            status=Status.FINISHED,
            attempts=(attempt,),
            recipe="train",
            evidence=(Evidence(digest=str(SEEN), bytes=4_096, tokens=True),),
            interpreter=Interpreter(python="3.11.7", executable="/home/somebody/bin/python", platform="linux"),
            launcher=Launcher(kind="torchrun", scheduler="slurm", job="4711", host="node.somewhere", world=held.world),
        ),
        digest=str(MANIFEST),
        tokens=(Kept(rank=0, episode=0, spans=Spans(policy="text", rows=rows)),),
    )


def everything(*, world: int = 2) -> Dossier:
    """Return a dossier in which each section has something to show, and each verdict is there."""
    changed: dict[str, Value] = {
        "attention.kernels": ("eager",),
        "attention.executed": Tally.count("calls", {"eager": 48}),
        "schedule.moves": Tally.count("moves", {"moves before": 0, "optimizer steps": 11, "scheduler moves": 98}),
        "tokens.supervision_requested": "unstated",
        "tokens.supervised_roles": ("assistant", "user"),
        "tokens.supervised_by_role": Tally.count("tokens", {"assistant": 1_204, "user": 2_010}),
        "code.deviations": Table(("path", "owner", "verdict"), (("train.py", "somebody", "modified"),)),
        "tree.bystanders": ("notes.md",),
        "tree.gate": "allow: a hurry",
    }
    correction = Annotation(
        seq=1,
        prev=str(MANIFEST),
        about=str(MANIFEST),
        kind=Extent.ERRATUM,
        falls=("precision.gradients",),
        survives=("tokens.supervised_roles",),
        not_reviewed=("adapter.*",),
        reason="the panel had profiled another seat",
        author="Ada",
        time=NOON,
    )
    waiver = Waiver(target="attention-as-requested", reason="on purpose", author="Ada", until=datetime.date(2999, 1, 1))
    expired = dataclasses.replace(waiver, target="ranks-agree", until=datetime.date(2025, 1, 1))
    return dossier(
        record(world=world, changed=changed, blind=("optimizer.kind", "modes.modules")),
        annotations=(correction,),
        waivers=(waiver, expired),
        notes=("the journal ends in the middle of a line (rank 1)",),
    )


Plant = Callable[[str, str], str]


def planted(value: Any, plant: Plant, at: str = "") -> Any:
    """Return a structure in which each text is what ``plant(path, text)`` makes of it, wherever a type admits that.

    It walks whatever dataclasses, msgspec structures, tuples and mappings it finds, so that a field which somebody
    adds is walked too. Checks and terms are code and stay.
    """
    if isinstance(value, str):
        return plant(at, value)
    if isinstance(value, tuple):
        return tuple(planted(item, plant, f"{at}[]") for item in value)
    if isinstance(value, Mapping):
        return {key: planted(item, plant, f"{at}{{}}") for key, item in value.items()}
    for name in _fields(value):
        old = getattr(value, name)
        new = planted(old, plant, f"{at}.{name}")
        if new != old:
            value = _replaced(value, name, new)
    return value


def _fields(value: Any) -> Iterator[str]:
    if dataclasses.is_dataclass(value) and type(value).__name__ != "Check":
        yield from (field.name for field in dataclasses.fields(value))
    elif isinstance(value, msgspec.Struct):
        yield from value.__struct_fields__


def _replaced(value: Any, name: str, new: Any) -> Any:
    """Return the structure with another text, or as it was where its type does not admit it."""
    try:
        if isinstance(value, msgspec.Struct):
            return msgspec.structs.replace(value, **{name: new})
        if isinstance(value, Tally) and name == "counts":
            return Tally.count(value.of, dict(new))
        return dataclasses.replace(value, **{name: new})
    except Exception:  # noqa: BLE001  a digest, a name that must be a term's
        return value
