"""Reads the divergence that a policy of ours keeps on itself."""

from __future__ import annotations

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import StepEnd, TrainBegin
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method


class RewardKl(Instrument):
    """Emits ``last_kl`` of the model that trains.

    Source: Acme's trainer writes it after every update.
    Blind to: a model that never kept it; that is Unknown.
    """

    name = "acme reward"
    emits = ("acme.reward_kl",)

    def __init__(self) -> None:
        self._model: object = None

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        self._model = moment.model

    @at(StepEnd, sampled=True)
    def read(self, moment: StepEnd, emit: Emit) -> None:
        kept = getattr(self._model, "last_kl", None)
        if kept is None:
            emit.unknown("acme.reward_kl", Cause.ABSENT, "the model keeps no last_kl")
        else:
            emit.known("acme.reward_kl", float(kept), source="model.last_kl", method=Method.INSPECTED)

    def release(self) -> None:
        self._model = None
