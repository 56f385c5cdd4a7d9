"""Requests: who decided what nobody in the script asked for."""

from __future__ import annotations

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import Asked, Implied, StepBegin
from affidavit.fact.term import Method
from affidavit.fact.values import Table


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
