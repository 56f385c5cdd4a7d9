"""Modes: which modules are in training and which in evaluation while the model trains, to the end of the training."""

from __future__ import annotations

import sys
import weakref
from collections import Counter
from collections.abc import Callable, Mapping

from affidavit.attach.instrument import Emit, Instrument, Live, at
from affidavit.attach.moment import Batch, Gradients, Look, TrainBegin
from affidavit.fact.term import Method
from affidavit.fact.values import Tally

ACTIVE, SILENT = "dropout, active", "dropout, silent"
FROZEN_ACTIVE, FROZEN_SILENT = "dropout of a frozen part, active", "dropout of a frozen part, silent"
MOVES, RESTS = "norm, statistics move", "norm, statistics rest"
FROZEN_MOVES, FROZEN_RESTS = "frozen norm, statistics move", "frozen norm, statistics rest"
LEFT, WOKEN = "left in evaluation", "frozen norm woken"
STOPPED = {(ACTIVE, SILENT), (MOVES, RESTS)}


class Modes(Instrument):
    """Emits how the layers to which it matters are set when the sampled batch enters, and which are not so later.

    A part is frozen where none of its own weights requires a gradient. The end of the run is not looked at: scripts
    evaluate there, and that is no training step.

    Source: corpus L3-54, L3-55 (a model left in ``eval()``; a validation that ended with ``train()`` for all of it).
    Blind to: dropout that is called as a function; a mode that changes and is put back between two looks.
    """

    name = "modes"
    emits = ("modes.modules", "modes.layers", "modes.changed")
    lasting = True

    def __init__(self) -> None:
        self._model: Callable[[], Live] = lambda: None
        self._at_first: dict[str, str] = {}
        self._trained_at_first = False
        self._changed: dict[str, str] = {}
        self._is_read = False

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        self._model = weakref.ref(moment.model)

    @at(Batch, sampled=True)
    def enters(self, moment: Batch, emit: Emit) -> None:
        self._read(f"when a batch of step {moment.step} entered", emit)

    @at(Gradients, sampled=True)
    def gradients(self, moment: Gradients, emit: Emit) -> None:
        self._read(f"before step {moment.step}", emit)

    def _read(self, when: str, emit: Emit) -> None:
        model = self._model()
        if model is None or self._is_read:
            return
        self._is_read = True
        self._at_first = _layers(model)
        modules = _modules(model)
        self._trained_at_first = modules["training"] > 0
        source = f"modules of the live model {when}"
        layers = Tally.count("layers", Counter(self._at_first.values()))
        emit.known("modes.modules", modules, source=source, method=Method.INSPECTED)
        emit.known("modes.layers", layers, source=source, method=Method.INSPECTED)
        emit.known("modes.changed", self._changes(), source=source, method=Method.INSPECTED)
        if self._at_first:
            emit.each_step(_pulse(model, self._at_first))

    @at(Look)
    def look(self, moment: Look, emit: Emit) -> None:
        model: Live = moment.model
        if model is None or moment.last or not self._at_first:
            return
        stopped = self._trained_at_first and not _modules(model)["training"]
        new = {}
        for path, now in _layers(model).items():
            before = self._at_first.get(path, now)
            if (before, now) == (FROZEN_RESTS, FROZEN_MOVES):
                new[path] = WOKEN
            elif stopped and (before, now) in STOPPED:
                new[path] = LEFT
        if new.keys() - self._changed.keys():
            self._changed = new | self._changed
            source = f"modules of the live model in step {moment.step}"
            emit.known("modes.changed", self._changes(), source=source, method=Method.INSPECTED)

    def _changes(self) -> Tally:
        return Tally.count("layers", {LEFT: 0, WOKEN: 0} | Counter(self._changed.values()))


def _modules(model: Live) -> Tally:
    """Count the modules that hold weights which train, by mode; the others are in a mode that changes nothing."""
    counts = Counter(
        "training" if module.training else "evaluation"
        for module in model.modules()
        if any(weight.requires_grad for weight in module._parameters.values() if weight is not None)
    )
    return Tally.count("modules", {"training": 0, "evaluation": 0} | counts)


def _layers(model: Live) -> dict[str, str]:
    """Return what the mode of each module does to which it matters, by path."""
    # It trains, so torch is there; importing it is not for us to do.
    kinds = sys.modules["torch"].nn.modules
    modules = dict(model.named_modules())
    layers = {}
    for path, module in modules.items():
        if isinstance(module, kinds.batchnorm._NormBase) and module.running_mean is not None:
            moves, rests = (FROZEN_MOVES, FROZEN_RESTS) if _is_frozen(module) else (MOVES, RESTS)
            layers[path] = moves if module.training else rests
        elif _dropout(module, kinds) > 0:
            active, silent = (FROZEN_ACTIVE, FROZEN_SILENT) if _is_around_frozen(path, modules) else (ACTIVE, SILENT)
            layers[path] = active if module.training else silent
    return layers


def _dropout(module: Live, kinds: Live) -> float:
    if isinstance(module, kinds.dropout._DropoutNd):
        return float(module.p)
    if isinstance(module, kinds.rnn.RNNBase):
        return float(module.dropout) if module.num_layers > 1 else 0.0
    if isinstance(module, kinds.activation.MultiheadAttention):
        return float(module.dropout)
    return 0.0


def _is_frozen(module: Live) -> bool:
    weights = list(module.parameters())
    return bool(weights) and not any(weight.requires_grad for weight in weights)


def _is_around_frozen(path: str, modules: Mapping[str, Live]) -> bool:
    """Say whether the smallest part around this layer that holds weights is frozen."""
    while path and next(modules[path].parameters(), None) is None:
        path = path.rpartition(".")[0]
    return _is_frozen(modules[path])


def _pulse(model: Live, layers: Mapping[str, str]) -> Callable[[int], bool]:
    """Return a pulse that says when the mode of a layer is another than before: of one that works, one that rests."""
    modules = dict(model.named_modules())
    kinds = ((ACTIVE, MOVES), (FROZEN_RESTS,))
    chosen = [next((path for path, state in layers.items() if state in kind), None) for kind in kinds]
    watched = [(weakref.ref(modules[path]), modules[path].training) for path in chosen if path is not None]

    def pulse(step: int) -> bool:
        is_new = False
        for place, (find, was) in enumerate(watched):
            module = find()
            if module is not None and module.training is not was:
                watched[place] = find, module.training
                is_new = True
        return is_new

    return pulse
