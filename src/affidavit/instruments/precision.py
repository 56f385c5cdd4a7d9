"""Precision: what was asked for, which types weights, gradients and optimizer hold, which types products ran in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from affidavit.attach.instrument import Emit, Instrument, Live, at
from affidavit.attach.moment import Asked, Gradients, Operation, Operations, StepEnd, TrainBegin, Unheard
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Tally

PRODUCTS = frozenset(
    f"aten::{name}"
    for name in (
        *("mm", "addmm", "bmm", "baddbmm", "addbmm", "mv", "addmv", "_addmm_activation"),
        *("_grouped_mm", "_scaled_mm", "_scaled_grouped_mm", "convolution", "convolution_backward"),
        *("mkldnn_rnn_layer", "mkldnn_rnn_layer_backward", "_cudnn_rnn", "_cudnn_rnn_backward"),
    )
) | {"mkldnn::_linear_pointwise", "mkldnn::_convolution_pointwise", "mkl::_mkl_linear"}
"""What multiplies matrices at last; ``linear`` and ``matmul`` only hand on, before or behind a conversion."""
TYPES = {
    "double": "float64",
    "float": "float32",
    "c10::Half": "float16",
    "c10::BFloat16": "bfloat16",
}
"""How the trace writes an element type, and how everybody else does."""
COPY = "float32 copies of the weights"
"""What the optimizer writes to in place of a 16-bit weight."""


class PrecisionRequest(Instrument):
    """Emits which precision was asked for: by the script, from outside of it, and for the weights.

    Source: hf-stack-spike §4 (an environment that switches autocast on; a script that overrides a config).
    Blind to: ``torch.autocast`` in the script's own lines, which asks and does in one.
    """

    name = "precision request"
    emits = ("precision.requested", "precision.outside", "precision.weights_requested")

    @at(Asked)
    def asked(self, moment: Asked, emit: Emit) -> None:
        term = _ASKED.get(moment.subject)
        if term is not None:
            emit.known(term, moment.value, source=moment.source, method=Method.DECLARED)

    @at(Unheard)
    def unheard(self, moment: Unheard, emit: Emit) -> None:
        term = _ASKED.get(moment.subject)
        if term is not None:
            emit.unknown(term, moment.cause, moment.why)


_ASKED = {
    "precision": "precision.requested",
    "precision outside": "precision.outside",
    "weight precision": "precision.weights_requested",
}
"""The subjects under which adapters speak of a request, and the term of each."""


class WeightTypes(Instrument):
    """Emits in which types the model that begins to train holds its weights.

    Source: hf-stack-spike §1 (a bf16 checkpoint without dtype: float32 under transformers 4, bfloat16 under 5).
    Blind to: what a packed weight stands for; it counts with the type it is packed in.
    """

    name = "weight types"
    emits = ("precision.weights", "precision.weight_types")

    @at(TrainBegin)
    def count(self, moment: TrainBegin, emit: Emit) -> None:
        model: Live = moment.model
        counts: Counter[str] = Counter()
        for weight in model.parameters():
            counts[f"{_type(weight)}, {'trains' if weight.requires_grad else 'frozen'}"] += weight.numel()
        weights = Tally.count("elements", counts)
        types = tuple(sorted({kind.partition(",")[0] for kind in weights.kinds}))
        source = "parameters of the live model"
        emit.known("precision.weights", weights, source=source, method=Method.INSPECTED)
        emit.known("precision.weight_types", types, source=source, method=Method.INSPECTED)


class TrainedTypes(Instrument):
    """Emits the types of the gradients that the optimizer got, and of what it keeps for the weights it owns.

    A copy is known by its name in the state ("master", "fp32"), or as a weight the optimizer owns in the model's place.

    Source: corpus L3-48 (pure 16-bit training that nobody asked for: weights and both moments in bfloat16).
    Blind to: state that is packed or factored; copies that an optimizer keeps under another name.
    """

    name = "trained types"
    emits = ("precision.gradients", "precision.optimizer_state")

    def __init__(self) -> None:
        self._optimizer: Live = None
        self._model: Live = None

    @at(Gradients, sampled=True)
    def gradients(self, moment: Gradients, emit: Emit) -> None:
        self._model, self._optimizer = moment.model, moment.optimizer
        gradients = [weight.grad for weight in self._model.parameters() if weight.grad is not None]
        counts: Counter[str] = Counter()
        for gradient in gradients:
            counts[_type(gradient)] += gradient.numel()
        tally = Tally.count("elements", counts)
        emit.known("precision.gradients", tally, source=f"gradients before step {moment.step}", method=Method.EXECUTED)

    @at(StepEnd, sampled=True)
    def state(self, moment: StepEnd, emit: Emit) -> None:
        if self._optimizer is None:
            return
        own = {id(weight) for weight in self._model.parameters()}
        kept = getattr(self._optimizer, "state", None) or {}
        counts: Counter[str] = Counter()
        for weight in (weight for group in self._optimizer.param_groups for weight in group["params"]):
            if id(weight) not in own and _type(weight) == "float32":
                counts[COPY] += weight.numel()
            for name, part in kept.get(weight, {}).items():
                if _is_per_element(part, weight):
                    counts[COPY if _is_copy(str(name), part) else _type(part)] += part.numel()
        source = f"state of the optimizer after step {moment.step}"
        tally = Tally.count("elements", counts)
        emit.known("precision.optimizer_state", tally, source=source, method=Method.EXECUTED)
        self.release()

    def release(self) -> None:
        self._optimizer = self._model = None


class ProductTypes(Instrument):
    """Emits in which types the matrix products of the sampled micro-batch ran.

    By the operations themselves: autocast is entered inside the outermost model, and a hook on that reads it as off.

    Source: hf-stack-spike §4 (a state that says fp16 while all ran in float32).
    Blind to: products inside a kernel that a compiler or a library made, and those inside of fused attention.
    """

    name = "product types"
    emits = ("precision.matmuls", "precision.matmul_types")

    @at(Operations)
    def executed(self, moment: Operations, emit: Emit) -> None:
        counts = count_products(moment.operations)
        if not counts.total:
            for term in self.emits:
                emit.unknown(term, Cause.NO_OPERATION, f"no matrix product was named in step {moment.step}")
            return
        source = f"execution trace of step {moment.step}"
        emit.known("precision.matmuls", counts, source=source, method=Method.EXECUTED)
        emit.known("precision.matmul_types", counts.kinds, source=source, method=Method.EXECUTED)


def count_products(operations: Iterable[Operation]) -> Tally:
    """Return the matrix products by the type of their first input; one without sizes was tried and never executed.

    One over a single element sums nothing: the angles of rotary positions were such products once, in float32 whatever
    the model computes in, and are written otherwise today.
    """
    counts: Counter[str] = Counter()
    for operation in operations:
        sums = operation.name != "aten::bmm" or operation.sizes[-1:] != (1,)
        if operation.name in PRODUCTS and operation.sizes and sums:
            counts[TYPES.get(operation.type, operation.type.removeprefix("c10::").lower())] += 1
    return Tally.count("operations", counts)


def _type(tensor: Live) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _is_per_element(part: Live, weight: Live) -> bool:
    return hasattr(part, "is_floating_point") and bool(part.is_floating_point()) and part.shape == weight.shape


def _is_copy(name: str, part: Live) -> bool:
    return _type(part) == "float32" and any(word in name.lower() for word in ("master", "fp32"))
