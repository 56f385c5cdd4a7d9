"""What a training works with beside model and optimizer: its scheduler and its loader.

A framework hands them over. A plain loop does not, so they are looked for: the scheduler that names the optimizer as
its own, and the loader whose iterator is alive in the middle of an epoch.

Blind to: a learning rate that the script sets by hand; a loader that is no ``torch.utils.data.DataLoader``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.data import dataloader as data

from affidavit.adapters.torch.modules import alive
from affidavit.attach.moment import Equipped, TrainBegin
from affidavit.attach.session import Session


def describe(moment: TrainBegin, session: Session) -> None:
    """Say which scheduler and loader the training uses; a loader only where it is the one that is being read."""
    scheduler, loader = moment.scheduler, moment.loader
    wanted = torch.optim.lr_scheduler.LRScheduler, data.DataLoader, data._BaseDataLoaderIter
    items = [] if scheduler is not None and loader is not None else alive(*wanted)
    if scheduler is not None:
        session.fire(Equipped(kind="scheduler", item=scheduler, source=moment.driver))
    else:
        found = _scheduler(_of_class(torch.optim.lr_scheduler.LRScheduler, items), moment.optimizer)
        source = "none in this process moves the optimizer" if found is None else "it names the optimizer as its own"
        session.fire(Equipped(kind="scheduler", item=found, source=source))
    if loader is not None:
        session.fire(Equipped(kind="loader", item=loader, source=moment.driver))
    else:
        found = _loader(_of_class(data.DataLoader, items), _of_class(data._BaseDataLoaderIter, items))
        if found is not None:
            session.fire(Equipped(kind="loader", item=found, source="the one loader that is being read"))


def _of_class(wanted: type[Any], items: list[Any]) -> list[Any]:
    return [item for item in items if issubclass(type(item), wanted)]


def _scheduler(schedulers: list[Any], optimizer: object | None) -> Any | None:
    """Return the scheduler of this optimizer that no other scheduler holds inside itself."""
    own = [one for one in schedulers if one.__dict__.get("optimizer") is optimizer]
    inner = {id(part) for one in own for part in one.__dict__.get("_schedulers", ())}
    return next((one for one in own if id(one) not in inner), None)


def _loader(loaders: list[Any], iterators: list[Any]) -> Any | None:
    """Return the loader in the middle of an epoch; None where several are, since nobody says which of them trains."""
    samplers = {id(iterator._index_sampler) for iterator in iterators}
    # A loader that wraps another shares its sampler; the wrapper was made last, and is the one that a loop reads.
    read = {id(loader._index_sampler): loader for loader in loaders if id(loader._index_sampler) in samplers}
    return next(iter(read.values())) if len(read) == 1 else None
