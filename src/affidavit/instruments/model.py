"""The model as a whole: recomputed layers, compiled code, and the ids that end and pad a text."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator

from affidavit.attach.instrument import Emit, Instrument, Live, ReadBack, at
from affidavit.attach.moment import Asked, Gradients, Loaded, StepBegin, TrainBegin
from affidavit.attach.tokenizer import Tokenizer
from affidavit.fact.term import Method
from affidavit.fact.values import Table

ON, PARTLY, OFF = "on", "partly", "off"
WHOLE, PARTS, FUNCTIONS, NO, IN_VAIN = "whole", "parts", "functions", "no", "in vain"


class Checkpointing(ReadBack):
    """Emits whether layers recompute their activations: those that carry the switch, and wrappers that do nothing else.

    Source: hf-stack-spike §4 (on by default in TRL, read from ``module.gradient_checkpointing``).
    Blind to: a model that calls ``torch.utils.checkpoint`` by a switch of its own name; a layer in evaluation mode,
    which does not recompute whatever its switch says.
    """

    name = "checkpointing"
    emits = ("model.checkpointing",)

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        model: Live = moment.model
        switches = list(_switches(model.modules()))
        on = sum(switches)
        value = ON if on and on == len(switches) else PARTLY if on else OFF
        source = f"{on} of {len(switches)} modules with the switch"
        emit.known("model.checkpointing", value, source=source, method=Method.INSPECTED)


class Compilation(ReadBack):
    """Emits what the compiler had made by the end of the sampled step's gradients.

    "in vain" is a model that was given to the compiler and of which no frame was compiled.

    Source: torch 2.13 ``_dynamo.utils.counters``; measured: a compiler that is switched off still wraps the model.
    Blind to: what fell back to Python inside of a compiled model; counters that the script resets.
    """

    name = "compilation"
    emits = ("model.compiled",)

    def __init__(self) -> None:
        self._is_asked = False

    @at(Asked)
    def asked(self, moment: Asked, emit: Emit) -> None:
        super().asked(moment, emit)
        self._is_asked = self._is_asked or moment.subject == "model.compiled"

    @at(Gradients, sampled=True)
    def gradients(self, moment: Gradients, emit: Emit) -> None:
        metrics = sys.modules.get("torch._dynamo.utils")
        frames = int(metrics.counters["frames"].get("ok", 0)) if metrics is not None else 0
        # A look at every object of the process takes a tenth of a second, so it has to be for something.
        compiled = _compiled(moment.model) if frames or self._is_asked else NO
        if compiled == NO:
            compiled = FUNCTIONS if frames else NO
        elif not frames:
            compiled = IN_VAIN
        source = f"{frames} compiled frames in step {moment.step}"
        emit.known("model.compiled", compiled, source=source, method=Method.EXECUTED)


class SpecialTokens(Instrument):
    """Emits the ids that end and that pad a text, as tokenizer, model and generation hold them when training begins.

    Where several tokenizers were built and the loop names none, they count only as far as they agree.

    Source: silent-failure-corpus D3; hf-stack-spike §4 (a Trainer aligns them, a loop of one's own does not).
    Blind to: a stop token that is handed to ``generate`` later.
    """

    name = "special tokens"
    emits = ("model.special_tokens",)

    def __init__(self) -> None:
        self._named: Tokenizer | None = None
        self._built: list[Tokenizer] = []
        self._model: Live = None

    @at(Loaded)
    def loaded(self, moment: Loaded, emit: Emit) -> None:
        if moment.kind == "tokenizer":
            self._built.append(moment.item)  # type: ignore[arg-type]

    @at(TrainBegin)
    def begin(self, moment: TrainBegin, emit: Emit) -> None:
        self._named = moment.tokenizer  # type: ignore[assignment]
        self._model = moment.model

    @at(StepBegin)
    def report(self, moment: StepBegin, emit: Emit) -> None:
        if self._model is None:
            return
        configs = [getattr(self._model, name, None) for name in ("config", "generation_config")]
        self._model = None
        tokenizers = [self._named] if self._named is not None else self._built
        ends = {tokenizer.ends for tokenizer in tokenizers}
        pads = {tokenizer.pad for tokenizer in tokenizers}
        source = "tokenizer and configs of the model"
        rows: tuple[tuple[str, str, str, str], ...] = ()
        if len(ends) == 1 and any(config is not None for config in configs):
            end = ("end", *map(_written, (ends.pop(), *(_ids(config, "eos_token_id") for config in configs))))
            pad = [pads.pop() if len(pads) == 1 else None, *(_ids(config, "pad_token_id") for config in configs)]
            rows = (end, ("padding", *map(_written, pad)))  # type: ignore[assignment]
        table = Table(("token", "tokenizer", "model", "generation"), rows)
        emit.known("model.special_tokens", table, source=source, method=Method.INSPECTED)

    def release(self) -> None:
        self._named, self._built, self._model = None, [], None


def _switches(modules: Iterable[Live]) -> Iterator[bool]:
    for module in modules:
        if type(module).__name__ == "CheckpointWrapper":
            yield True
        elif isinstance(switch := getattr(module, "gradient_checkpointing", None), bool):
            yield switch


def _compiled(model: Live) -> str:
    """Say how much of a model was given to the compiler, in place or inside of a wrapper that is called instead."""
    modules = {id(module) for module in model.modules()}
    in_place = [module for module in model.modules() if module.__dict__.get("_compiled_call_impl") is not None]
    wrapper = getattr(sys.modules.get("torch._dynamo.eval_frame"), "OptimizedModule", None)
    wrapped = [item._modules.get("_orig_mod") for item in gc.get_objects() if wrapper and type(item) is wrapper]
    own = [module for module in wrapped if id(module) in modules]
    if any(module is model for module in (*in_place, *own)) or (wrapper and type(model) is wrapper):
        return WHOLE
    return PARTS if in_place or own else NO


def _ids(config: Live, name: str) -> object:
    return getattr(config, name, None)


def _written(ids: object) -> str:
    """Return one id or several, sorted; "" where there is none."""
    several = ids if isinstance(ids, list | tuple | set | frozenset) else (ids,)
    return ", ".join(map(str, sorted(one for one in several if type(one) is int)))
