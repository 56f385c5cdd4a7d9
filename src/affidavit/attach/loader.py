"""What an instrument may read of a loader without changing it, whoever made it.

Source: torch 2.13 utils/data/dataloader. Blind to: loaders that hold others inside of them.
"""

from __future__ import annotations

from affidavit.attach.instrument import Live


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


def innermost(batching: Live) -> Live:
    """Return the batch sampler inside of those that split its batches over ranks, at most a few."""
    for _ in range(4):
        inner = getattr(batching, "batch_sampler", None)
        if inner is None:
            break
        batching = inner
    return batching


def rows_of(loader: Live) -> int:
    """Return the rows of a whole micro-batch on this rank, 0 where the loader does not make them."""
    sampler = getattr(loader, "batch_sampler", None)
    size = getattr(sampler, "batch_size", None) or getattr(loader, "batch_size", None)
    if type(size) is not int:
        return 0
    if getattr(sampler, "split_batches", False):
        return size // max(int(getattr(sampler, "num_processes", 1)), 1)
    return size
