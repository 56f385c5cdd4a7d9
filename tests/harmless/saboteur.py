"""Lays hands on every instrument of the house from inside of a plugin, so that the source needs no hooks for tests."""

import os
import time
from collections.abc import Iterator

from affidavit.attach.instrument import Emit, Instrument
from affidavit.fact.values import Value


class Hands(Instrument):
    """Emits nothing; it is here because a module of instruments must hold one."""

    name = "hands"
    emits = ()


def hang_asleep() -> None:
    time.sleep(60)


def hang_busy() -> None:
    while True:
        pass


def raise_error() -> None:
    raise RuntimeError("sabotaged")


def raise_memory_error() -> None:
    raise MemoryError


def raise_no_space() -> None:
    raise OSError(28, "No space left on device")


def recurse() -> None:
    recurse()


def stop_iteration() -> None:
    raise StopIteration


FAULTS = {
    "raise": raise_error,
    "memory": raise_memory_error,
    "no space": raise_no_space,
    "recursion": recurse,
    "stop iteration": stop_iteration,
    "asleep": hang_asleep,
    "busy": hang_busy,
}


def sabotage(kind: type[Instrument], fault: str) -> None:
    """Replace every listener of an instrument, or what it lets go with, by the fault."""
    for moment, sampled, name in kind.listeners():

        def listener(self: object, moment: object, emit: object) -> None:
            FAULTS[fault]()

        listener.__affidavit_at__ = (moment, sampled)  # type: ignore[attr-defined]
        setattr(kind, name, listener)


def instruments(kind: type[Instrument] = Instrument) -> Iterator[type[Instrument]]:
    """Yield every instrument that is loaded; what only serves as a base of others has no name."""
    for inner in kind.__subclasses__():
        if hasattr(inner, "name") and inner is not Hands:
            yield inner
        yield from instruments(inner)


def lose_emit() -> None:
    """What an instrument says cannot be said: the value is refused on its way into the journal."""

    def known(self: Emit, term: str, value: Value, **how: object) -> None:
        raise_error()

    Emit.known = known  # type: ignore[method-assign]


def hold_on(kind: type[Instrument], fault: str) -> None:
    kind.release = lambda self: FAULTS[fault]()  # type: ignore[method-assign]


def main(fault: str, where: str, budget: str) -> None:
    for kind in instruments():
        if where not in ("every", "release", kind.name):
            continue
        if budget:
            kind.budget_seconds = float(budget)
        if where == "release":
            hold_on(kind, fault)
        elif fault != "emit":
            sabotage(kind, fault)
    if fault == "emit":
        lose_emit()


main(*os.environ["SABOTAGE"].split("|"))
