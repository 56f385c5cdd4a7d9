"""The optimizer, read back: what it is and steps with, which vectors decay, and whether it owns what trains."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from affidavit.attach.instrument import Emit, Instrument, Live, ReadBack, at
from affidavit.attach.moment import Asked, Gradients, StepBegin, TrainBegin
from affidavit.attach.wrapper import innermost
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Layers, Table, Tally

SETTINGS = ("optimizer.kind", "optimizer.learning_rate", "optimizer.weight_decay", "optimizer.settings")
TOLD_APART = frozenset(
    {"params", "param_names", "lr", "initial_lr", "weight_decay", "foreach", "fused", "capturable", "differentiable"}
)
"""What is no number of the method: facts of their own, and how the same step is computed."""
NAMES = 40
"""The most names that a fact holds; the rest are counted."""


class OptimizerSettings(ReadBack):
    """Emits class, rate, decay and the other numbers of the live optimizer, and the vectors that decay.

    A group's rate is what its schedule scales (``initial_lr``), or, without one, the rate of the first step.

    Source: hf-stack-spike §4; anchors-provenance §1b (an optimizer that was passed in); corpus L3-46.
    Blind to: what a step makes of these numbers; an optimizer that keeps its own elsewhere than in its groups.
    """

    name = "optimizer settings"
    emits = (*SETTINGS, "optimizer.asked", "optimizer.groups", "optimizer.decayed_vectors")

    def __init__(self) -> None:
        self._asked: dict[str, None] = {}

    @at(TrainBegin)
    def read(self, moment: TrainBegin, emit: Emit) -> None:
        optimizer = innermost(moment.optimizer, "optimizer", "param_groups")
        groups = getattr(optimizer, "param_groups", None)
        if not groups:
            return
        read = [_Group.of(group) for group in groups]
        largest = max(read, key=lambda group: group.elements)
        source = f"groups of the live {type(optimizer).__name__}"
        decay = max(group.decay for group in read)
        emit.known("optimizer.kind", _kind(optimizer), source="class of the live optimizer", method=Method.INSPECTED)
        emit.known("optimizer.learning_rate", largest.rate, source=source, method=Method.INSPECTED)
        emit.known("optimizer.weight_decay", decay, source=source, method=Method.INSPECTED)
        emit.known("optimizer.settings", _settings(groups), source=source, method=Method.INSPECTED)
        emit.known("optimizer.groups", _folded(read), source=source, method=Method.INSPECTED)
        names = {id(tensor): name for name, tensor in moment.model.named_parameters()}  # type: ignore[attr-defined]
        decayed = [names.get(vector, "not in the model") for vector in _decayed(read)]
        emit.known("optimizer.decayed_vectors", _listed(decayed), source=source, method=Method.INSPECTED)

    @at(Asked)
    def asked_by_name(self, moment: Asked, emit: Emit) -> None:
        if moment.subject in SETTINGS:
            self._asked[moment.subject.rpartition(".")[2]] = None

    @at(StepBegin)
    def tell(self, moment: StepBegin, emit: Emit) -> None:
        if "optimizer.asked" not in emit.spoken:
            asked = tuple(sorted(self._asked))
            emit.known("optimizer.asked", asked, source="what adapters heard", method=Method.DECLARED)


class OptimizerOwnership(Instrument):
    """Emits which tensors of the model the optimizer owns, and which tensors it owns that nobody trains.

    A tensor counts as trained from outside where a gradient came and no optimizer of this process holds it.

    Source: corpus L3-42 to L3-45 (an optimizer that holds the parameters of before the wrapping).
    Blind to: an engine that steps on copies of its own, where neither side has a gradient that we see.
    """

    name = "optimizer ownership"
    emits = ("optimizer.owned", "optimizer.unowned")

    @at(Gradients, sampled=True)
    def look(self, moment: Gradients, emit: Emit) -> None:
        optimizer: Live = innermost(moment.optimizer, "optimizer", "param_groups")
        model: Live = moment.model
        own = {id(tensor): tensor for group in optimizer.param_groups for tensor in group["params"]}
        named = dict(model.named_parameters())
        left = {name: tensor for name, tensor in named.items() if tensor.requires_grad and id(tensor) not in own}
        others = _held_by_others(optimizer) if any(map(_has_gradient, left.values())) else set()
        kinds = [_standing(tensor, own, others) for tensor in named.values()]
        inside_model = {id(tensor) for tensor in named.values()}
        kinds += [
            f"foreign, {'with gradient' if _has_gradient(tensor) else 'idle'}"
            for key, tensor in own.items()
            if key not in inside_model
        ]
        unowned = [name for name, tensor in left.items() if _standing(tensor, own, others) == "unowned, with gradient"]
        source = f"parameters of model and optimizer before step {moment.step}"
        counts = {kind: kinds.count(kind) for kind in {*kinds, "owned, with gradient"}}
        emit.known("optimizer.owned", Tally.count("tensors", counts), source=source, method=Method.EXECUTED)
        emit.known("optimizer.unowned", _listed(unowned), source=source, method=Method.EXECUTED)


@dataclass(frozen=True, kw_only=True)
class _Group:
    """What one group of an optimizer says, and its tensors by identity only."""

    tensors: int
    elements: int
    vectors: tuple[int, ...]
    rate: float
    decay: float
    path: str

    @classmethod
    def of(cls, group: Mapping[str, Live]) -> _Group:
        tensors = group["params"]
        return cls(
            tensors=len(tensors),
            elements=sum(tensor.numel() for tensor in tensors),
            vectors=tuple(id(tensor) for tensor in tensors if tensor.requires_grad and tensor.ndim <= 1),
            rate=float(group.get("initial_lr", group.get("lr", 0.0))),
            decay=float(group.get("weight_decay") or 0.0),
            path="fused" if group.get("fused") else "foreach" if group.get("foreach") else "",
        )


def _listed(names: Iterable[str]) -> tuple[str, ...]:
    """Return names with neighbours folded; of too many the first, and how many more there are."""
    folded = [run for run, _ in Layers.of(dict.fromkeys(names, "")).runs]
    more = len(folded) - NAMES
    return (*folded[:NAMES], f"and {more} more") if more > 0 else tuple(folded)


def _kind(optimizer: Live) -> str:
    kind = type(optimizer)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package in ("torch", "__main__") else f"{package}.{kind.__name__}"


def _settings(groups: Sequence[Mapping[str, Live]]) -> tuple[str, ...]:
    """Return what else the groups say in numbers; where they differ, each value once."""
    said: dict[str, dict[str, None]] = {}
    for group in groups:
        for name, value in group.items():
            parts = value if isinstance(value, tuple | list) else (value,)
            if name not in TOLD_APART and all(isinstance(part, int | float | str) for part in parts):
                said.setdefault(name, {})[repr(tuple(value) if isinstance(value, list) else value)] = None
    return tuple(f"{name}={' and '.join(tuple(values)[:4])}" for name, values in sorted(said.items()))


def _folded(groups: Sequence[_Group]) -> Table:
    """Return one row for all groups of the same rate, decay and path."""
    rows: dict[tuple[float, float, str], list[int]] = {}
    for group in groups:
        row = rows.setdefault((group.rate, group.decay, group.path), [0, 0, 0, 0])
        for place, count in enumerate((1, group.tensors, group.elements, len(group.vectors))):
            row[place] += count
    largest_first = sorted(rows.items(), key=lambda row: -row[1][2])
    table: tuple[tuple[Cell, ...], ...] = tuple((*counts, *key) for key, counts in largest_first)
    columns = ("groups", "tensors", "elements", "vectors", "learning_rate", "weight_decay", "path")
    return Table(columns, table)


def _decayed(groups: Sequence[_Group]) -> list[int]:
    """Return the vectors that decay, where another group holds vectors and spares them."""
    if not any(group.vectors and not group.decay for group in groups):
        return []
    return [vector for group in groups if group.decay for vector in group.vectors]


def _standing(tensor: Live, own: Mapping[int, Live], others: set[int]) -> str:
    gradient = "with gradient" if _has_gradient(tensor) else "no gradient"
    if not tensor.requires_grad:
        return "frozen, owned" if id(tensor) in own else "frozen"
    if id(tensor) in own:
        return f"owned, {gradient}"
    return "owned by another optimizer" if id(tensor) in others else f"unowned, {gradient}"


def _has_gradient(tensor: Live) -> bool:
    # To ask a tensor in the middle of a graph for its gradient prints a warning.
    return bool(tensor.is_leaf) and tensor.grad is not None


def _held_by_others(optimizer: Live) -> set[int]:
    """Return the identities of what the other optimizers of this process hold: there may be two of them in a loop."""
    kind = sys.modules["torch"].optim.Optimizer
    found = [item for item in gc.get_objects() if issubclass(type(item), kind) and item is not optimizer]
    return {id(tensor) for one in found for group in one.__dict__.get("param_groups", ()) for tensor in group["params"]}
