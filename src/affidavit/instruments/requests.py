"""Requests: who decided what nobody in the script asked for, and whose word stands where several places have one."""

from __future__ import annotations

from affidavit.attach.claim import Claim, Claimed
from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.loader import rows_of
from affidavit.attach.moment import Asked, Equipped, Implied, StepBegin, Unheard
from affidavit.fact.term import Method
from affidavit.fact.values import Table

OWNERS = ("value", "owner", "asked", "by", "live", "won", "term")
PERSON, DEFAULT = "person", "default"
ROWS = "rows a micro-batch"


class Owners(Instrument):
    """Emits, for each fact that no request named, who decided it, as the adapters know it.

    Source: hf-stack-spike §4 (bf16 and checkpointing that nobody asked for; an environment that switches autocast on).
    Blind to: a default inside of code that no adapter reads.
    """

    name = "owners"
    emits = ("run.owners",)

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}

    @at(Implied)
    def implied(self, moment: Implied, emit: Emit) -> None:
        self._owners[moment.subject] = moment.owner

    @at(Asked)
    def asked(self, moment: Asked, emit: Emit) -> None:
        self._owners.pop(moment.subject, None)

    @at(StepBegin, sampled=True)
    def report(self, moment: StepBegin, emit: Emit) -> None:
        rows = tuple(sorted(self._owners.items()))
        emit.known("run.owners", Table(("fact", "owner"), rows), source="what adapters read", method=Method.DECLARED)


class ConfigOwners(Instrument):
    """Emits, for each value that more than one place speaks of, who asked for what and what the live object has.

    Source: corpus L2-02, L2-03, L2-07 to L2-12 (a default, an environment, an engine's file that won without a word).
    Blind to: places that no adapter reads; a value that is only counted while it runs, which has facts of its own.
    """

    name = "config owners"
    emits = ("config.owners",)

    def __init__(self) -> None:
        self._claims: dict[str, dict[str, Claim]] = {}
        self._live: dict[str, str] = {}

    @at(Claimed)
    def claimed(self, moment: Claimed, emit: Emit) -> None:
        held = self._claims.setdefault(moment.subject, {})
        held.update({claim.owner: claim for claim in moment.claims})
        if moment.live:
            self._live[moment.subject] = moment.live

    @at(Equipped)
    def equipped(self, moment: Equipped, emit: Emit) -> None:
        rows = rows_of(moment.item) if moment.kind == "loader" and moment.item is not None else 0
        if rows:
            self._live[ROWS] = str(rows)

    @at(Unheard)
    def unheard(self, moment: Unheard, emit: Emit) -> None:
        if moment.subject in self.emits:
            emit.deaf(moment.subject, moment.cause, moment.why)

    @at(StepBegin, sampled=True)
    def report(self, moment: StepBegin, emit: Emit) -> None:
        rows = [
            (
                subject,
                claim.owner,
                claim.value,
                PERSON if claim.typed else DEFAULT,
                live,
                claim.value == live,
                claim.term,
            )
            for subject, claims in sorted(self._claims.items())
            for claim in claims.values()
            if len(claims) > 1 and (live := self._live.get(subject, ""))
        ]
        table = Table(OWNERS, tuple(rows))
        emit.known(
            "config.owners", table, source="configs and live objects that adapters read", method=Method.INSPECTED
        )
