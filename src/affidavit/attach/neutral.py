"""Gives a run back exactly as it was found, around anything of ours that calls the run's own code.

A loader that is peeked at without this changes the final weights (critic-architect R3). Keepers for a framework's
state are added by its adapter; Python's and NumPy's are here.

Blind to: state that no keeper knows, such as a generator a user holds and our call draws from.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

Keeper = Callable[[], Callable[[], None]]
"""Reads some state now and returns the function that puts it back."""


def keep_python() -> Callable[[], None]:
    state = random.getstate()
    return lambda: random.setstate(state)


def keep_numpy() -> Callable[[], None]:
    generators = sys.modules.get("numpy.random")
    if generators is None:
        return lambda: None
    state = generators.get_state()
    return lambda: generators.set_state(state)


@contextmanager
def neutral(keepers: tuple[Keeper, ...]) -> Iterator[None]:
    """Restore all kept state at the end, each piece even when another cannot be restored."""
    with ExitStack() as stack:
        for keep in (keep_python, keep_numpy, *keepers):
            stack.callback(keep())
        yield
