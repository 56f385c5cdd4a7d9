"""The loader: sampler, workers, what it leaves out and how long it is, read from the live object."""

from __future__ import annotations

from affidavit.attach.instrument import Emit, Live, ReadBack, at
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
        batching = _innermost(getattr(loader, "batch_sampler", None))
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
            for term in self.emits[1:]:
                emit.unknown(term, Cause.ABSENT, "the loop reads its data without a loader that was found")


def streams(loader: Live) -> bool:
    """Say whether the data of a loader has no order of its own to sample from."""
    return type(getattr(loader, "sampler", None)).__name__ == "_InfiniteConstantSampler"


def batches_of(loader: Live) -> int:
    """Return the micro-batches of an epoch, 0 where nobody knows; a stream is not asked, since that changes it."""
    if streams(loader):
        return 0
    try:
        return len(loader)
    except (TypeError, NotImplementedError):
        return 0


def _innermost(batching: Live) -> Live:
    """Return the batch sampler inside of those that split its batches over ranks, at most a few."""
    for _ in range(4):
        inner = getattr(batching, "batch_sampler", None)
        if inner is None:
            break
        batching = inner
    return batching
