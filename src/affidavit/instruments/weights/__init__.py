"""Weights: which of them move and which rest, and which are what the files hold that they were loaded from."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

from affidavit.attach.instrument import Emit, Instrument, at, is_recorded, local
from affidavit.attach.moment import Gradients, Look, Restored, StepBegin, StepEnd, TrainBegin
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Layers, Table, Tally
from affidavit.instruments.weights import checkpoint
from affidavit.instruments.weights.checksum import Sum, checksums

MOVED = "moved"
STILL = "still despite a gradient"
ROUNDED = "still in 16 bits despite a gradient"
NO_GRADIENT = "without gradient"
ZERO_GRADIENT = "with a gradient of 0 or no number"
NO_RATE = "at learning rate 0"
NOT_OWNED = "outside the optimizer"
UNDECIDED = "still and not decided"
AT_REST = "frozen at rest"
OPTIMIZED = "frozen but moved by the optimizer"
REWRITTEN = "frozen but rewritten"

EXCEPTIONS = (STILL, ROUNDED, NO_GRADIENT, OPTIMIZED, REWRITTEN)
ROUNDING_BYTES = 2
"""The widest element whose rounding swallows the update of an ordinary learning rate."""

WARM_STEPS = 64
"""Before this many steps a warm-up may hold the rate below what a weight can follow; only the end is final then."""
MOST_RUNS = 60
"""The most lines of names that a fact holds; the counts are whole."""
BLOCK = 256
"""How much of a gradient is looked at first: one that is not 0 there is not 0."""


class WeightsMoved(Instrument):
    """Emits which parameters moved between the first look, before any update, and the last.

    Every byte of a tensor is in its checksum; a tensor that trains and has moved is not read again. A gradient is seen
    in the first two steps. A tied weight is one tensor; of a distributed one, each rank looks at its own part.

    Source: corpus L3-34, L3-35, L3-42 to L3-45, L3-62, L8-01; playbook §4.3.
    Blind to: parts of a frozen tensor too large to be read whole; a tensor that moved and was put back; parameters
    whose bytes lie elsewhere (an engine's own copies, meta, other ranks); buffers.
    """

    name = "weights moved"
    emits = ("weights.moved", "weights.steps_watched", "weights.exceptions")
    lasting = True

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._first: dict[str, Sum] = {}
        self._trains: dict[str, bool] = {}
        self._moved: set[str] = set()
        self._graded: dict[str, bool] = {}  # a gradient came; whether it ever was more than 0
        self._rated: set[str] = set()
        self._owned: set[str] | None = None
        self._heard = self._toggled = False
        self._begun = self._looked = -1
        self._kinds: dict[str, str] = {}

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        self._forget()  # a training may begin again before its first step
        parameters = _parameters(moment.model)
        self._first = {} if is_recorded() else checksums(parameters.items())
        self._trains = {name: parameters[name].requires_grad for name in self._first}
        if not self._first:
            for term in self.emits:
                emit.unknown(term, Cause.NO_ADAPTER, "no parameter of the model has its bytes in this process")

    @at(StepBegin)
    def count_from(self, moment: StepBegin, emit: Emit) -> None:
        if self._begun < 0:
            self._begun = self._looked = moment.step - 1

    @at(Gradients)
    def gradients(self, moment: Gradients, emit: Emit) -> None:
        if is_recorded():
            return
        self._heard = True
        parameters = _parameters(moment.model)
        wanted = {
            name: local(parameter.grad).detach()
            for name, parameter in parameters.items()
            if parameter.grad is not None and not self._graded.get(name)
        }
        self._watch_flags(parameters)
        self._graded |= _are_felt({name: grad for name, grad in wanted.items() if grad.numel()})
        self._rate(parameters, moment.optimizer, exact=False)

    @at(StepEnd, sampled=True)
    def provide(self, moment: StepEnd, emit: Emit) -> None:
        """Say that nothing is decided yet, and which parameters no gradient reached; the last look has the say."""
        if self._first:
            self._kinds = dict.fromkeys(self._without_gradient(), NO_GRADIENT)
            self._say(emit, {}, self._begun)

    @at(Look)
    def look(self, moment: Look, emit: Emit) -> None:
        if not self._first or self._begun < 0 or is_recorded():
            return
        due = moment.last or moment.step - self._begun >= 2 * (self._looked - self._begun)
        if moment.model is not None and due and moment.step > self._looked:
            self._kinds = self._compare(moment.model, moment.optimizer)
            self._looked = moment.step
        # A model that the run has let go of is judged as it was at the look before.
        if self._looked > self._begun and (
            moment.last or self._looked - self._begun >= WARM_STEPS or not {STILL, ROUNDED} & {*self._kinds.values()}
        ):
            self._say(emit, self._kinds, self._looked)

    def _compare(self, model: Any, optimizer: Any) -> dict[str, str]:
        parameters = {name: one for name, one in _parameters(model).items() if name in self._first}
        self._watch_flags(parameters)
        now = checksums((name, one) for name, one in parameters.items() if name not in self._moved)
        alike = {
            name for name, seen in now.items() if _form(seen) == _form(self._first[name])
        }  # a tensor of another shape or type is another tensor
        self._moved |= {name for name in alike if now[name].value != self._first[name].value}
        self._rate(parameters, optimizer, exact=True)
        compared = {name: one for name, one in parameters.items() if name in alike or name in self._moved}
        return {name: self._kind(name, one) for name, one in compared.items()}

    def _kind(self, name: str, parameter: Any) -> str:
        if not (self._trains[name] or parameter.requires_grad):
            if name not in self._moved:
                return AT_REST
            if self._toggled:
                return MOVED  # a schedule freezes and thaws; what it did between two looks is its own affair
            return OPTIMIZED if name in (self._owned or ()) else REWRITTEN
        if name in self._moved:
            return MOVED
        if not self._heard or not self._first[name].whole or not (self._trains[name] and parameter.requires_grad):
            return UNDECIDED
        if name not in self._graded:
            return NO_GRADIENT
        if not self._graded[name]:
            return ZERO_GRADIENT
        if self._owned is not None and name not in self._owned:
            return NOT_OWNED
        if self._owned is not None and name not in self._rated:
            return NO_RATE
        return ROUNDED if parameter.element_size() <= ROUNDING_BYTES else STILL

    def _rate(self, parameters: Mapping[str, Any], optimizer: Any, *, exact: bool) -> None:
        """Remember what the optimizer owns, and whose learning rate was ever more than 0.

        A rate that is a tensor may lie on a device, and is waited for only where the look waits anyway.
        """
        groups = getattr(optimizer, "param_groups", None)
        if groups is None:
            return  # the run has let go of it, and what it owned stands
        rates = {
            id(parameter): rate for group in groups if (rate := _rate_of(group, exact)) for parameter in group["params"]
        }
        self._rated |= {name for name, parameter in parameters.items() if id(parameter) in rates}
        owned = {id(parameter) for group in groups for parameter in group["params"]}
        self._owned = {name for name, parameter in parameters.items() if id(parameter) in owned}

    def _watch_flags(self, parameters: Mapping[str, Any]) -> None:
        self._toggled |= any(
            one.requires_grad != self._trains[name] for name, one in parameters.items() if name in self._trains
        )

    def _without_gradient(self) -> list[str]:
        return [name for name, trains in self._trains.items() if trains and self._heard and name not in self._graded]

    def _say(self, emit: Emit, counted: Mapping[str, str], step: int) -> None:
        kinds = list(counted.values())
        tally = Tally.count("tensors", {kind: kinds.count(kind) for kind in kinds})
        odd = {name: kind for name, kind in self._kinds.items() if kind in EXCEPTIONS}
        sampled = sum(not self._first[name].whole for name in counted)
        source = f"checksums before the first step and after step {step}" if counted else "one look, before any update"
        source += f"; of {sampled} large tensors a sample" if sampled else ""
        emit.known("weights.moved", tally, source=source, method=Method.EXECUTED)
        emit.known("weights.steps_watched", step - self._begun, source=source, method=Method.EXECUTED)
        emit.known("weights.exceptions", folded(odd), source=source, method=Method.EXECUTED)


class WeightsLoaded(Instrument):
    """Emits which parameters are what their file holds, and what became of states and adapters put into the model.

    The first and the last elements of each tensor are compared with the file, in the type of the live tensor. One that
    differs is near the file where the two go together (a merged adapter, a copy in fewer bits), and unlike it where
    they do not: it was made anew.

    Source: corpus L3-36, L3-37, L3-71 to L3-73; hf-stack-spike §1; safetensors' format (a JSON header, then bytes).
    Blind to: the middle of a tensor; files that are no safetensors, of which the loader's word stands; shards of a
    distributed tensor; a state that a script puts in tensor by tensor.
    """

    name = "weights loaded"
    emits = ("weights.loaded", "weights.strangers", "weights.restored")

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._kinds: dict[int, tuple[str, str]] = {}
        self._rows: list[tuple[str, str, int, int, int]] = []

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        self._forget()

    @at(Restored)
    def restored(self, moment: Restored, emit: Emit) -> None:
        if moment.kind == "model":
            deadline = time.monotonic() + self.budget_seconds / 2
            self._kinds |= checkpoint.compared(moment, deadline=deadline)
            return
        self._rows.append((moment.kind, moment.source, moment.tensors, moment.taken, len(moment.missing)))
        for key in {id(place) for place in moment.places.values()} & self._kinds.keys():
            self._kinds[key] = (self._kinds[key][0], checkpoint.AGAIN)

    @at(StepBegin)
    def say(self, moment: StepBegin, emit: Emit) -> None:
        if "weights.loaded" in emit.spoken:
            return
        kinds = [kind for _, kind in self._kinds.values()]
        tally = Tally.count("tensors", {kind: kinds.count(kind) for kind in kinds})
        odd = {name: kind for name, kind in self._kinds.values() if kind in checkpoint.STRANGE}
        source = "live tensors and files when training began" if kinds else "no file was loaded into this model"
        table = Table(("kind", "source", "tensors", "taken", "missing"), tuple(self._rows[-MOST_RUNS // 4 :]))
        emit.known("weights.loaded", tally, source=source, method=Method.INSPECTED)
        emit.known("weights.strangers", folded(odd), source=source, method=Method.INSPECTED)
        emit.known("weights.restored", table, source="what load_state_dict returned", method=Method.INSPECTED)


def folded(kinds: Mapping[str, str]) -> Layers:
    """Return names with their kinds, layers of a stack folded into one line, as many lines as a fact can hold."""
    return Layers(Layers.of(kinds).runs[:MOST_RUNS])


def _parameters(model: Any) -> dict[str, Any]:
    return dict(model.named_parameters()) if hasattr(model, "named_parameters") else {}


def _form(seen: Sum) -> tuple[object, ...]:
    return seen.shape, seen.type, seen.whole


def _rate_of(group: Mapping[str, Any], exact: bool) -> float:
    rate = group.get("lr", 1.0)  # an optimizer without one moves by rules of its own
    return float(rate) if exact or isinstance(rate, float | int) else 0.0


def _are_felt(gradients: Mapping[str, Any]) -> dict[str, bool]:
    """Return for each gradient whether some of it is not 0 and all that was looked at is a number."""
    first = _largest({name: gradient.reshape(-1)[:BLOCK] for name, gradient in gradients.items()})
    silent = {name: gradient for name, gradient in gradients.items() if not first.get(name)}
    found = first | _largest(silent)
    return {name: bool(size) and math.isfinite(size) for name, size in found.items()}


def _largest(tensors: Mapping[str, Any]) -> dict[str, float]:
    import torch

    parts: dict[Any, list[tuple[str, Any]]] = {}
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and tensor.layout == torch.strided:
            low, high = torch.aminmax(tensor)
            parts.setdefault(tensor.device, []).append((name, torch.maximum(-low, high).float()))
    found: dict[str, float] = {}
    for said in parts.values():
        values: Iterable[float] = torch.stack([value for _, value in said]).tolist()
        found.update(zip((name for name, _ in said), values))
    return found
