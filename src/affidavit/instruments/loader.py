"""The loader: sampler, workers, what it leaves out and how long it is, read from the live object."""

from __future__ import annotations

from affidavit.attach.instrument import Emit, Live, ReadBack, at
from affidavit.attach.loader import batches_of, innermost, streams
from affidavit.attach.moment import Equipped, StepBegin
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Value

UNSEEN, NONE = "unseen", "none"


class LoaderSettings(ReadBack):
    """Emits how the loader of the training is set; "unseen" where a loop reads its data by other means.

    The order is that of the innermost sampler: what shards batches over ranks stands around it.

    Source: hf-stack-spike §4 (``group_by_length`` is a class of sampler); torch 2.13 utils/data/dataloader.
    Blind to: what a custom sampler or collator does inside.
    """

    name = "loader settings"
    emits = ("loader.sampler", "loader.drop_last", "loader.workers", "loader.batches")

    @at(Equipped)
    def equipped(self, moment: Equipped, emit: Emit) -> None:
        loader: Live = moment.item
        if moment.kind != "loader" or loader is None:
            return
        batching = innermost(getattr(loader, "batch_sampler", None))
        sampler = getattr(batching, "sampler", None) or getattr(loader, "sampler", None)
        named = NONE if streams(loader) or sampler is None else type(sampler).__name__
        drops = getattr(batching, "drop_last", None)
        told: dict[str, Value] = {
            "loader.sampler": named,
            "loader.drop_last": bool(getattr(loader, "drop_last", False) if drops is None else drops),
            "loader.workers": int(getattr(loader, "num_workers", 0) or 0),
            "loader.batches": batches_of(loader),
        }
        for term, value in told.items():
            emit.known(term, value, source=f"{type(loader).__name__} ({moment.source})", method=Method.INSPECTED)

    @at(StepBegin)
    def unseen(self, moment: StepBegin, emit: Emit) -> None:
        if "loader.sampler" not in emit.spoken:
            emit.known("loader.sampler", UNSEEN, source="no loader was found", method=Method.INSPECTED)
            emit.known("loader.batches", 0, source="no loader was found", method=Method.INSPECTED)
            for term in ("loader.drop_last", "loader.workers"):
                emit.unknown(term, Cause.ABSENT, "the loop reads its data without a loader that was found")
