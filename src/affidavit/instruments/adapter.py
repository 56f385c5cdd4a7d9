"""Adapters: which of the names asked for matched a module, and which adapted modules really train."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from affidavit.attach.instrument import Emit, Instrument, at, local
from affidavit.attach.moment import Adapted, Gradients, StepBegin
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Layers, Tally


class AdapterTargets(Instrument):
    """Emits the kind of adapter, the names asked for, and the modules each name matched.

    Where no framework that brings adapters is in the process, or it finds none, the kind is "none".

    Source: hf-stack-spike §1 (one mistyped name of two is silent); corpus class L2.
    Blind to: adapters written by hand, outside such a framework.
    """

    name = "adapter targets"
    emits = ("adapter.kind", "adapter.targets", "adapter.matched")

    def __init__(self) -> None:
        self._adapted = False

    @at(Adapted)
    def adapted(self, moment: Adapted, emit: Emit) -> None:
        self._adapted = True
        matched = Tally.count("modules", dict.fromkeys(moment.asked, 0) | _by_name(moment.asked, moment.modules))
        emit.known("adapter.kind", moment.kind, source=moment.source, method=Method.INSPECTED)
        emit.requested("adapter.targets", moment.asked, source=moment.source)
        emit.known("adapter.targets", matched.kinds, source="modules of the live model", method=Method.INSPECTED)
        emit.known("adapter.matched", matched, source="modules of the live model", method=Method.INSPECTED)

    @at(StepBegin)
    def none(self, moment: StepBegin, emit: Emit) -> None:
        if not self._adapted and "adapter.kind" not in emit.spoken:
            source = "no module of the live model carries an adapter"
            emit.known("adapter.kind", "none", source=source, method=Method.INSPECTED)
            emit.known("adapter.targets", (), source=source, method=Method.INSPECTED)
            emit.known("adapter.matched", Tally("modules", ()), source=source, method=Method.INSPECTED)


class AdapterSettings(Instrument):
    """Emits rank, scale and dropout of each adapted module as it runs, beside what the config says of it.

    Source: peft 0.21 tuners/lora (``scaling`` is set when a layer is made, and not when a config changes).
    Blind to: kinds of adapters that have no rank.
    """

    name = "adapter settings"
    emits = ("adapter.settings",)

    @at(Adapted)
    def adapted(self, moment: Adapted, emit: Emit) -> None:
        live, asked = Layers.of(moment.settings), Layers.of(moment.configured)
        emit.known("adapter.settings", live, source="modules of the live model", method=Method.INSPECTED)
        if asked.runs:
            emit.requested("adapter.settings", asked, source=moment.source.partition("(")[0])

    @at(StepBegin)
    def none(self, moment: StepBegin, emit: Emit) -> None:
        if not emit.spoken:
            source = "no module of the live model carries an adapter"
            emit.known("adapter.settings", Layers(()), source=source, method=Method.INSPECTED)


class AdapterTraining(Instrument):
    """Emits how many adapted modules train: a gradient arrived, it is not all zero, and the optimizer owns the weight.

    Either matrix of a pair is enough: at the first step the gradient of LoRA's A is zero by construction.

    Source: corpus L3 (frozen adapters; an optimizer built before the adapters).
    Blind to: whether the weight then moves; an optimizer may still be told not to (learning rate 0).
    """

    name = "adapter training"
    emits = ("adapter.trained",)

    def __init__(self) -> None:
        self._asked: tuple[str, ...] = ()
        self._modules: dict[str, list[Any]] = {}

    @at(Adapted)
    def adapted(self, moment: Adapted, emit: Emit) -> None:
        self._asked = moment.asked
        self._modules = {path: list(parameters) for path, parameters in moment.modules.items()}

    @at(Gradients, sampled=True)
    def gradients(self, moment: Gradients, emit: Emit) -> None:
        optimizer: Any = moment.optimizer
        model: Any = moment.model
        owned = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
        if not any(id(parameter) in owned for parameter in model.parameters()):
            why = "the optimizer holds no parameter of the model: an engine trains copies of its own"
            emit.unknown("adapter.trained", Cause.NO_ADAPTER, why)
            return
        trained = {path: parameters for path, parameters in self._modules.items() if _trains(parameters, owned)}
        counts = dict.fromkeys(self._asked, 0) | _by_name(self._asked, trained)
        source = f"gradients and optimizer before step {moment.step}"
        emit.known("adapter.trained", Tally.count("modules", counts), source=source, method=Method.EXECUTED)
        self._modules = {}

    def release(self) -> None:
        self._modules = {}


def _trains(parameters: Sequence[Any], owned: set[int]) -> bool:
    own = [parameter for parameter in parameters if parameter.grad is not None and id(parameter) in owned]
    here = [part for parameter in own if (part := local(parameter.grad)).numel()]
    # Where every part of a module lies on other ranks, they know; nothing is said against it here.
    return any(bool(part.any()) for part in here) or bool(own and not here)


def _by_name(asked: Sequence[str], modules: Mapping[str, object]) -> dict[str, int]:
    """Count modules by each asked name that is the end of their path; what no name explains counts as itself.

    A pattern explains whatever no name does.
    """
    counts: dict[str, int] = {}
    patterns = asked if len(asked) == 1 else [name for name in asked if re.search(r"[^\w.=-]", name)]
    for path in modules:
        names = [name for name in asked if path == name or path.endswith(f".{name}")]
        for name in names or patterns or (path.rpartition(".")[2],):
            counts[name] = counts.get(name, 0) + 1
    return counts
