"""What an instrument is: a reader of facts at moments.

An instrument declares what it emits and answers for all of it: a term that it did not emit by the time the sampled
step is over becomes Unknown, with a cause. It holds no threshold and no verdict.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from affidavit.attach.launch import CANARY_SECONDS
from affidavit.attach.moment import Asked, Moment, Unheard
from affidavit.fact.encoding import to_json
from affidavit.fact.observation import Aspect, Cause, Known, Observation, Unknown
from affidavit.fact.term import Method, TermShapeError, Vocabulary
from affidavit.fact.values import Digest, Value

INLINE_BYTES = 8 * 1024
"""The most canonical bytes a fact may hold; more goes to evidence, and the fact keeps what a check needs."""

Live = Any
"""A handle of the run: an object of a framework that this half never imports by name."""

Handler = TypeVar("Handler", bound=Callable[..., None])


def at(moment: type[Moment], *, sampled: bool = False) -> Callable[[Handler], Handler]:
    """Mark a method of an instrument as a listener; with ``sampled`` it is called in the sampled step only."""

    def mark(handler: Handler) -> Handler:
        handler.__affidavit_at__ = (moment, sampled)  # type: ignore[attr-defined]
        return handler

    return mark


class Instrument:
    """Base of every instrument; made anew for each training episode, so it may keep state.

    ``budget_seconds`` is the longest one call may take before it is cut off and the instrument is switched off.
    Every call runs with random states and modes saved and restored, unseen by the run's own recorders.
    One that is ``lasting`` stays when the live window ends: it hears each :class:`Look`, may speak again (the last word
    stands), and answers for its terms when the training is over.
    """

    name: ClassVar[str]
    emits: ClassVar[tuple[str, ...]]
    budget_seconds: ClassVar[float] = 2.0
    lasting: ClassVar[bool] = False

    def limit(self, emit: Emit) -> float:
        """Return how long one call may take, in seconds."""
        return self.budget_seconds

    def release(self) -> None:
        """Let go of everything held in the run: called when the live window ends, also after an error or a cut-off."""

    @classmethod
    def listeners(cls) -> tuple[tuple[type[Moment], bool, str], ...]:
        """Return ``(moment, sampled only, method name)`` for each listener, in the order of definition."""
        found = {}
        for kind in reversed(cls.__mro__):
            for name, value in vars(kind).items():
                mark = getattr(value, "__affidavit_at__", None)
                if mark is not None:
                    found[name] = (*mark, name)
        return tuple(found.values())


class ReadBack(Instrument):
    """Base of an instrument whose terms can be asked for: what was asked is kept beside what it became."""

    @at(Asked)
    def asked(self, moment: Asked, emit: Emit) -> None:
        if moment.subject in self.emits:
            emit.requested(moment.subject, moment.value, source=moment.source)

    @at(Unheard)
    def unheard(self, moment: Unheard, emit: Emit) -> None:
        if moment.subject in self.emits:
            emit.deaf(moment.subject, moment.cause, moment.why)


@dataclass
class Emit:
    """How an instrument speaks: it says what is known, what was asked, or why something is unknown."""

    vocabulary: Vocabulary
    instrument: str
    emits: tuple[str, ...]
    write: Callable[[Observation], None]
    evidence_folder: Path
    tokens_folder: Path
    tokens_policy: str = "text"
    canary_seconds: float = CANARY_SECONDS
    episode: int = 0
    step: int = 0
    pulses: list[Callable[[int], bool]] = field(default_factory=list)
    spoken: set[str] = field(default_factory=set)
    _unknown: set[str] = field(default_factory=set)
    _deaf: set[str] = field(default_factory=set)

    def known(self, term: str, value: Value, *, source: str, method: Method) -> None:
        self._say(Aspect.RESOLVED, term, value, source, method)

    def requested(self, term: str, value: Value, *, source: str) -> None:
        self._say(Aspect.REQUESTED, term, value, source, Method.DECLARED)

    def unknown(self, term: str, cause: Cause, why: str) -> None:
        """Say why a term is unknown, once: the first cause is the cause. What was known is taken back by it."""
        self._check_name(term)
        if term in self._unknown:
            return
        self._unknown.add(term)
        self.spoken.add(term)
        self.write(Observation(term, Aspect.RESOLVED, Unknown(cause, why), self.episode, self.step))

    def deaf(self, term: str, cause: Cause, why: str) -> None:
        """Say that a request for this term may have passed unheard: whatever it became, nobody can judge it."""
        self.unknown(term, cause, why)
        self._deaf.add(term)

    def each_step(self, pulse: Callable[[int], bool]) -> None:
        """Call ``pulse(step)`` before each optimizer step to the end of the training; True asks for a Look soon.

        It is the hot path of the run: some attribute reads, no tensor, nothing kept alive. One that raises is dropped.
        """
        self.pulses.append(pulse)

    def evidence(self, content: bytes, *, tokens: bool = False) -> Digest:
        """Keep content that is too large for a fact beside the record, under its digest; nothing is overwritten.

        ``tokens`` keeps it in the folder that no export reads.
        """
        digest = Digest("sha256", hashlib.sha256(content).hexdigest())
        folder = self.tokens_folder if tokens else self.evidence_folder
        folder.mkdir(parents=True, exist_ok=True)
        # Under its name only once it is whole: a full disk would leave a digest that names other bytes.
        part = folder / f"{digest.hex}.{os.getpid()}.part"
        try:
            part.write_bytes(content)
            part.replace(folder / digest.hex)
        finally:
            part.unlink(missing_ok=True)
        return digest

    def _say(self, aspect: Aspect, term: str, value: Value, source: str, method: Method) -> None:
        self._check_name(term)
        row = self.vocabulary[term]
        if not row.admits(value):
            raise TermShapeError(f"{term}: expected a {row.type.__name__}, saw {type(value).__name__}.")
        size = len(repr(to_json(value)))
        if size > INLINE_BYTES:
            self.unknown(term, Cause.TOO_LARGE, f"{size} bytes, {INLINE_BYTES} allowed")
            return
        if aspect is Aspect.RESOLVED:
            if term in self._deaf:
                return
            self.spoken.add(term)
            self._unknown.discard(term)
        self.write(Observation(term, aspect, Known(value, method, source), self.episode, self.step))

    def _check_name(self, term: str) -> None:
        if term not in self.emits:
            raise TermShapeError(f"{self.instrument} emits {', '.join(self.emits)} and never declared {term}.")


def local(tensor: Live) -> Live:
    """Return the part of a distributed tensor that lies in this process; reading the whole would be a collective.

    A collective that only some ranks join is waited for by the others for ever.
    """
    return getattr(tensor, "_local_tensor", tensor)


def is_recorded() -> bool:
    """Say whether a graph of device operations is being captured here: waiting for a result would spoil it."""
    torch: Live = sys.modules.get("torch")
    return bool(torch is not None and torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())


def process_identity() -> str:
    """Return ``<host>-<pid>-<start>``: a pid alone is reused, and then an old file speaks for a new process."""
    start = "0"
    try:
        stat = Path("/proc/self/stat").read_text()
        start = stat.rpartition(")")[2].split()[19]
    except OSError:
        pass
    host = "".join(letter if letter.isalnum() else "_" for letter in os.uname().nodename)
    return f"{host}-{os.getpid()}-{start}"


def process_place() -> dict[str, object]:
    """Return where a process number means this process: the boot, and the pid namespace; what nobody says is missing.

    In a container the number is another's on the host, and the same number is somebody else there.
    """
    place: dict[str, object] = {}
    with suppress(OSError):
        place["boot"] = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        place["namespace"] = Path("/proc/self/ns/pid").stat().st_ino
    return place
