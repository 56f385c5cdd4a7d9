"""Datasets → moments: what became of the script's rows on their way to the loader, and what came out of a cache."""

from types import ModuleType

from affidavit.adapters.datasets import hits, loads, prepared
from affidavit.attach.moment import Prepared
from affidavit.attach.session import Describer, Session


def bind_dataset(module: ModuleType, session: Session) -> None:
    hits.bind(module, session)
    prepared.bind(module, session)


BINDS = {"datasets.arrow_dataset": bind_dataset, "datasets.builder": loads.bind}
DESCRIBERS = (Describer(prepared.describe, shows=(Prepared,)),)
TURN = 1

__all__ = ["BINDS", "DESCRIBERS", "TURN"]
