"""What was put into the modules of this process, by whom: states, adapters, the files of a loaded model.

A state that fits no parameter is dropped without a word where a script says ``strict=False``; what
``load_state_dict`` returns says it all, and is thrown away.

Source: torch 2.13 nn/modules/module (``load_state_dict``); corpus L3-36, L3-37, L3-73.
Blind to: a state that a script puts in tensor by tensor, or an engine with loaders of its own.
"""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from affidavit.attach.moment import Restored, TrainBegin
from affidavit.attach.session import Session

_WRAPPED = re.compile(r"\.(base_layer|original_module)(?=\.)")
"""What an adapter puts between a module and its parameters, after they were loaded."""
MOST_PUTS = 256
"""How many are remembered: a script that averages weights puts them in at every step."""


@dataclass(kw_only=True)
class Put:
    """Stored tensors that were put into one live module; see :class:`Restored`.

    ``names`` are the places that they are for; what the loader says of them beside that is read when it is asked for.
    """

    item: weakref.ref[Any]
    kind: str
    source: str
    tensors: int
    taken: int
    names: frozenset[str]
    read: Callable[[], Mapping[str, Any]]
    episode: int | None = None

    def is_same(self, other: Put) -> bool:
        """Say whether another put is this one tried again: as many tensors, into the same module."""
        return self.item() is other.item() and (self.kind, self.tensors) == (other.kind, other.tensors)


@dataclass
class _Puts:
    known: list[Put] = field(default_factory=list)
    inside: int = 0


_puts = _Puts()


def remember(put: Put) -> None:
    """Keep what was put in until a training begins; of what is tried again, the last word stands.

    A script that looks at what did not fit and tries again under other names has noticed.
    """
    if not _puts.inside:
        _puts.known = [old for old in _puts.known if old.item() is not None and not old.is_same(put)]
        _puts.known = [*_puts.known[-MOST_PUTS + 1 :], put]


@contextmanager
def telling() -> Iterator[None]:
    """Who tells what is put in meanwhile is somebody who knows more of it."""
    _puts.inside += 1
    try:
        yield
    finally:
        _puts.inside -= 1


def bind_states(module: ModuleType, session: Session) -> None:
    module_class = module.Module
    load = module_class.load_state_dict

    @session.shielded
    def tell(item: Any, names: tuple[str, ...], found: Any) -> None:
        if not _puts.inside:
            taken = frozenset(names).difference(found.unexpected_keys)
            missing = tuple(found.missing_keys)
            put = Put(
                item=weakref.ref(item),
                kind="state",
                source=f"{type(item).__name__}.load_state_dict",
                tensors=len(names),
                taken=len(taken),
                names=taken,
                read=lambda: {"missing": missing},
            )
            remember(put)

    @functools.wraps(load)
    def load_state_dict(self: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        found = load(self, state_dict, *args, **kwargs)
        tell(self, tuple(state_dict), found)
        return found

    module_class.load_state_dict = load_state_dict


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what was put into the model that trains, in the order in which it was, and before it ever trained."""
    model: Any = moment.model
    own = {id(parameter) for parameter in model.parameters()}
    for put in _puts.known:
        item = put.item()
        if item is None or put.episode not in (None, session.episode):
            continue  # what has trained since is no longer what was put in
        places = {
            called: parameter
            for name, parameter in item.named_parameters(remove_duplicate=False)
            if (called := _WRAPPED.sub("", name)) in put.names and id(parameter) in own
        }
        if places or any(id(parameter) in own for parameter in item.parameters()):
            put.episode = session.episode
            restored = Restored(
                kind=put.kind, source=put.source, tensors=put.tensors, taken=put.taken, places=places, **put.read()
            )
            session.fire(restored)
