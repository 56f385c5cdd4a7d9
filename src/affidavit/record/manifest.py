"""The manifest: a record with the run it came from, sealed as one document of a fixed shape.

It embeds the terms it uses, so that it reads without the plugin that brought them, and holds every value inline, so
that last year's run is judged from this one file.

Source: in-toto Statement v1 (subject, predicate), SLSA provenance (what was asked, what it resolved to).
"""

from __future__ import annotations

import datetime
import enum
import signal as signals
from collections.abc import Iterable
from typing import Annotated

import msgspec

from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.observation import MOST
from affidavit.fact.term import Term, Vocabulary
from affidavit.record import canonical
from affidavit.record.record import Kind, Record, ordered
from affidavit.record.row import FactRow, Part, RowError, TermRow, fact_row, read_fact, read_term, term_row

FORMAT = 1
SIZE_BYTES = 1 << 20
"""The most bytes a manifest may have; larger values go to evidence, and the fact keeps what a check needs."""

Instant = Annotated[datetime.datetime, msgspec.Meta(tz=True)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Width = Annotated[int, msgspec.Meta(ge=1, le=MOST)]


class ManifestError(AffidavitError):
    """A manifest cannot be read, or cannot be written within its limits."""


class Status(enum.Enum):
    """How a run ended. There is no status for running: a manifest is written at the end.

    REFUSED was never started; STOPPED was ended by us, because somebody had said when (``--stop-on``). ADOPTED is no
    run of ours, but what somebody wrote down of one.
    """

    FINISHED = "FINISHED"
    FAILED = "FAILED"
    KILLED = "KILLED"
    OOM = "OOM"
    PREEMPTED = "PREEMPTED"
    TIMEOUT = "TIMEOUT"
    ABANDONED = "ABANDONED"
    REFUSED = "REFUSED"
    STOPPED = "STOPPED"
    ADOPTED = "ADOPTED"


class Process(Part, frozen=True, kw_only=True):
    """One process that trained: who it was, how far it came, and how its journal ended ("" where it did not)."""

    identity: str
    host: str
    pid: Count
    rank: Count
    world: Width
    last_step: Count = 0
    closed: str = ""
    torn: bool = False


class Attempt(Part, frozen=True, kw_only=True):
    """One start of the command; a requeued job is the next attempt of the same run.

    ``exit_code`` is None where nobody saw the end, ``signal`` 0 where none ended it or nobody saw which.
    """

    number: Count
    command: tuple[str, ...]
    started: Instant
    ended: Instant
    status: Status
    exit_code: int | None = None
    signal: int = 0
    last_step: Count = 0
    processes: tuple[Process, ...] = ()

    def __post_init__(self) -> None:
        if self.status is Status.FAILED and not self.exit_code:
            raise ValueError(f"attempt {self.number}: FAILED carries the exit code, saw {self.exit_code!r}")
        if self.status is Status.FINISHED and (self.exit_code or self.signal):
            raise ValueError(f"attempt {self.number}: FINISHED with exit code {self.exit_code}, signal {self.signal}")

    @property
    def ending(self) -> str:
        """Say how it ended, with the code or the signal."""
        if self.status is Status.FAILED:
            return f"FAILED (exit code {self.exit_code})"
        if self.signal:
            known = {number.value: number.name for number in signals.Signals}
            return f"{self.status.value} (signal {self.signal}, {known.get(self.signal, 'unnamed')})"
        return self.status.name


class Evidence(Part, frozen=True, kw_only=True):
    """A file beside the manifest, by its digest; ``tokens`` tells the folder that no export reads."""

    digest: str
    bytes: Count
    tokens: bool = False


class Interpreter(Part, frozen=True, kw_only=True):
    """The Python that trained, as it spoke of itself."""

    python: str = ""
    executable: str = ""
    platform: str = ""


class Launcher(Part, frozen=True, kw_only=True):
    """What started the processes: ``kind`` is python, torchrun, accelerate …; ``job`` is the scheduler's number."""

    kind: str = ""
    scheduler: str = ""
    job: str = ""
    host: str = ""
    world: Width = 1


class Manifest(Part, frozen=True, kw_only=True):
    """Everything a run swears to. Readers get its facts from :mod:`affidavit.record.fold` only."""

    format: int = FORMAT
    affidavit: str
    run: str
    kind: Kind
    recipe: str = ""
    status: Status
    world: Width = 1
    episodes: Width = 1
    attempts: tuple[Attempt, ...]
    facts: tuple[FactRow, ...]
    terms: tuple[TermRow, ...]
    notes: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    interpreter: Interpreter = Interpreter()
    launcher: Launcher = Launcher()

    @property
    def ending(self) -> str:
        """Say how the last attempt ended."""
        return self.attempts[-1].ending if self.attempts else self.status.value


def from_record(
    record: Record,
    *,
    affidavit: str,
    status: Status,
    attempts: tuple[Attempt, ...],
    recipe: str = "",
    evidence: tuple[Evidence, ...] = (),
    interpreter: Interpreter | None = None,
    launcher: Launcher | None = None,
) -> Manifest:
    """Return the manifest of a record, with every term that its facts use or are derived from.

    Args:
        affidavit: the version that seals.
        attempts: with command lines that are already redacted.
    """
    return Manifest(
        affidavit=affidavit,
        run=record.subject,
        kind=record.kind,
        recipe=recipe,
        status=status,
        world=record.world,
        episodes=record.episodes,
        attempts=attempts,
        facts=tuple(fact_row(fact) for fact in ordered(record.facts)),
        terms=tuple(term_row(term) for term in _used(record)),
        notes=record.notes,
        evidence=evidence,
        interpreter=interpreter or Interpreter(),
        launcher=launcher or Launcher(),
    )


def to_record(manifest: Manifest, vocabulary: Vocabulary | None = None) -> Record:
    """Return the record that a manifest holds, read with these terms and the embedded ones beside them.

    Where both have a row, the current one stands: it says what satisfies a check today.

    Raises:
        ManifestError: an embedded term is malformed or has another type today, or a fact does not fit its term.
    """
    terms = {term.name: term for term in vocabulary or ()}
    try:
        for row in manifest.terms:
            embedded = read_term(row)
            current = terms.setdefault(row.name, embedded)
            if current.type is not embedded.type:
                raise RowError(
                    f"{row.name}: a {embedded.type.__name__} when it was sealed, a {current.type.__name__} now"
                )
        words = Vocabulary(terms.values())
        facts = tuple(read_fact(row, words, world=manifest.world, episodes=manifest.episodes) for row in manifest.facts)
    except AffidavitError as error:
        raise ManifestError(f"manifest of {manifest.run}: {error}") from error
    return Record(
        kind=manifest.kind,
        subject=manifest.run,
        facts=ordered(facts),
        vocabulary=words,
        world=manifest.world,
        episodes=manifest.episodes,
        notes=manifest.notes,
    )


def encode(manifest: Manifest) -> bytes:
    """Return the canonical bytes of a manifest.

    Raises:
        ManifestError: more than 1 MiB; the message names the largest facts.
    """
    raw = canonical.encode(canonical.legible(msgspec.to_builtins(manifest)))
    if len(raw) > SIZE_BYTES:
        sizes = sorted(((len(repr(fact)), fact.name) for fact in manifest.facts), reverse=True)
        largest = ", ".join(f"{name} (about {size:,})" for size, name in sizes[:3])
        raise ManifestError(
            refusal(
                subject=f"manifest of {manifest.run}",
                expected=f"{SIZE_BYTES:,} bytes at most",
                saw=f"{len(raw):,}; the largest facts are {largest}",
                means="A record of this size would not be read by anybody.",
                action="Let the instrument keep the value as evidence, and its reduction as the fact.",
                unaffected="the journals, which hold every observation",
            )
        )
    return raw


def decode(raw: bytes, *, source: str = "manifest.json") -> Manifest:
    """Return the manifest that bytes hold.

    Raises:
        ManifestError: too large, truncated, hostile (doubled keys, NaN, inexact integers), of a newer format, or with
            a field this version does not know.
    """
    if len(raw) > SIZE_BYTES:
        raise _unreadable(source, f"{SIZE_BYTES:,} bytes at most", f"{len(raw):,}")
    try:
        document = canonical.parse(raw)
    except canonical.CanonicalError as error:
        raise _unreadable(source, "one JSON document, whole and unambiguous", str(error)) from error
    version = document.get("format") if isinstance(document, dict) else document
    if version != FORMAT:
        raise _unreadable(
            source,
            f"manifest format {FORMAT} (this version)",
            f"{version!r:.80}",
            action="Read it with the Affidavit that wrote it, or a newer one.",
        )
    try:
        return msgspec.convert(document, Manifest)
    except msgspec.ValidationError as error:
        raise _unreadable(source, "the fields of format 1", str(error)) from error


def _unreadable(source: str, expected: str, saw: str, *, action: str = "") -> ManifestError:
    return ManifestError(
        refusal(
            subject=source,
            expected=expected,
            saw=saw,
            means="This record cannot be judged.",
            action=action or "Restore the file from a copy.",
            unaffected="the run itself, its checkpoints and the journals beside this file",
        )
    )


def _used(record: Record) -> Iterable[Term]:
    pending = [fact.name for fact in record.facts]
    used: dict[str, Term] = {}
    while pending:
        name = pending.pop()
        if name not in used:
            used[name] = record.vocabulary[name]
            pending.extend(used[name].leans_on)
    return (used[name] for name in sorted(used))
