"""Transformers → moments: the Trainer's loop, what attention a model asked for, what each layer is configured with.

The loop is heard through ``DEFAULT_CALLBACKS``, an extension point; ``_inner_training_loop`` and model forwards, which
source patchers rewrite, are never touched. The attention request is heard where every way of building a model passes
it on, before the library resolves it: ``PreTrainedModel._check_and_adjust_attn_implementation``.

Source: hf-stack-spike §3–4; transformers 5.24 modeling_utils, trainer; critic-architect R8, R9.
Blind to: a Trainer without our callback (the optimizer hooks then see a plain loop, and that is noted).
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from affidavit.attach.moment import Asked, Configured, Loaded, TrainBegin, Unheard
from affidavit.attach.session import Session
from affidavit.fact.observation import Cause

UNSTATED = "unstated"


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What one model was asked to use, and through what."""

    model: weakref.ref[Any]
    asked: str
    source: str


_tokenizers: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""The tokenizer that was built last, for a training that names none; a second training may use it as well."""
_requests: dict[int, _Request] = {}
"""What each live model was asked to use for attention. By identity: a model may be anything, also unhashable."""


# --- the Trainer ------------------------------------------------------------------------------------------------


def _bind_trainer(module: ModuleType, session: Session) -> None:
    # Not above: whoever imports transformers alone has not imported torch, and the trainer's module has.
    from affidavit.adapters.torch.loop import begin_step, begin_training, end_step, end_training, gradients_ready

    begins, ready, ends = (session.shielded(call) for call in (begin_step, gradients_ready, end_step))
    callback_class: type[Any] = module.TrainerCallback

    class AffidavitCallback(callback_class):  # type: ignore[misc]
        """Tells Affidavit when the Trainer begins, steps and ends; a copy of it, or one that was stored, is mute."""

        def __reduce__(self) -> tuple[type[Any], tuple[()]]:
            return callback_class, ()

        @session.shielded
        def on_train_begin(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            remaining = state.max_steps - state.global_step
            begin_training(
                session,
                TrainBegin(
                    driver="transformers.Trainer",
                    model=live.get("model"),
                    optimizer=_bare(live.get("optimizer")),
                    tokenizer=offer_tokenizer(live.get("processing_class")),
                    arguments=args,
                    planned_steps=max(remaining, 0),
                ),
            )

        # These are called in every step of the run: what is not wanted any more is asked first.
        def on_step_begin(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            if session.counts:
                begins(session, state.global_step + 1, live.get("model"))

        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            if session.live:
                ready(session, state.global_step + 1, live.get("model"), _bare(live.get("optimizer")))

        def on_step_end(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            if not session.counts:
                session.beat(state.global_step)
                return
            if session.launch.mode == "rehearsal":
                control.should_save = False
            ends(session, state.global_step)

        @session.shielded
        def on_train_end(self, args: Any, state: Any, control: Any, **live: Any) -> None:
            end_training(session, state.global_step)

    module.DEFAULT_CALLBACKS.append(AffidavitCallback)


def _bare(optimizer: Any) -> Any:
    """Return the optimizer inside Accelerate's wrapper."""
    return getattr(optimizer, "optimizer", optimizer)


# --- attention --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Heard:
    """Where requests are heard: the class, and our function in it."""

    model_class: type[Any]
    function: Callable[..., Any]

    def stands(self) -> bool:
        """Say whether our function is still the one that is called, directly or by what was put in front of it."""
        found = vars(self.model_class).get(self.function.__name__)
        while found is not None and found is not self.function:
            found = getattr(found, "__wrapped__", None)
        return found is self.function


_heard: _Heard | None = None


def _bind_models(module: ModuleType, session: Session) -> None:
    global _heard
    model_class = module.PreTrainedModel
    resolve = model_class._check_and_adjust_attn_implementation
    remember = session.shielded(_remember)

    @functools.wraps(resolve)
    def heard(self: Any, attn_implementation: Any, *args: Any, **kwargs: Any) -> Any:
        remember(self, _named(attn_implementation))
        return resolve(self, attn_implementation, *args, **kwargs)

    model_class._check_and_adjust_attn_implementation = heard
    _heard = _Heard(model_class=model_class, function=heard)


def _remember(model: Any, asked: str) -> None:
    """Keep what a model was first asked for by name; a later ask that differs is told beside it, not instead."""
    key = id(model)
    first = _requests.get(key)
    if first is None or first.asked == UNSTATED:
        reference = weakref.ref(model, lambda _: _requests.pop(key, None))
        _requests[key] = _Request(model=reference, asked=asked, source=f"{type(model).__name__}(attn_implementation=…)")
    elif asked != first.asked:
        _requests[key] = replace(first, source=f"{first.source.partition(', later')[0]}, later set to {asked}")


def _named(implementation: Any) -> str:
    if implementation is None:
        return UNSTATED
    if isinstance(implementation, Mapping):
        return ", ".join(f"{part or 'model'}: {name}" for part, name in implementation.items())
    return str(implementation)


def describe(moment: TrainBegin, session: Session) -> None:
    """Say what attention the model that trains asked for and is configured with, layer by layer."""
    last = _tokenizers.get("last")
    if last is not None and moment.tokenizer is None:
        session.fire(_loaded(last))
    modules = dict(moment.model.named_modules())  # type: ignore[attr-defined]
    _say_request(modules.values(), session)
    layers = {
        path: str(implementation)
        for path, module in modules.items()
        if "Attention" in type(module).__name__
        and (implementation := getattr(getattr(module, "config", None), "_attn_implementation", None)) is not None
    }
    if layers:
        session.fire(Configured(subject="attention", layers=layers, source="config of each attention module"))


def _say_request(modules: Iterable[Any], session: Session) -> None:
    models = [module for module in modules if _heard is not None and issubclass(type(module), _heard.model_class)]
    request = next((_requests[id(model)] for model in models if id(model) in _requests), None)
    if request is not None:
        session.fire(Asked(subject="attention", value=request.asked, source=request.source))
    elif models and _heard is not None:
        name = _heard.function.__name__
        if _heard.stands():
            cause, why = (
                Cause.ATTACHED_LATE,
                f"{type(models[0]).__name__} did not pass {name}: copied, or built before us",
            )
        else:
            cause, why = Cause.REPLACED, f"PreTrainedModel.{name} was replaced by other code"
        session.fire(Unheard(subject="attention", cause=cause, why=why))


# --- tokenizers -------------------------------------------------------------------------------------------------


class _Tokenizer:
    """A transformers tokenizer as instruments ask for it. It never encodes: that may change truncation and padding."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._pieces: dict[int, str] = {}

    @property
    def pad(self) -> int | None:
        return self._tokenizer.pad_token_id  # type: ignore[no-any-return]

    @property
    def ends(self) -> frozenset[int]:
        end = self._tokenizer.eos_token_id
        return frozenset(end if isinstance(end, list) else () if end is None else (end,))

    def render(self, messages: Sequence[tuple[str, str]]) -> str | None:
        if not getattr(self._tokenizer, "chat_template", None):
            return None
        talk = [{"role": role, "content": content} for role, content in messages]
        try:
            return str(self._tokenizer.apply_chat_template(talk, tokenize=False))
        except Exception:  # noqa: BLE001  templates are programs that refuse roles by raising whatever they like
            return None

    def pieces(self, ids: Sequence[int]) -> list[str]:
        # Alone, a token loses the space that its tokenizer marks a word with; behind another it keeps it.
        before = next(iter(self.ends), ids[0] if ids else 0)
        alone = self.text([before])
        for token in set(ids) - self._pieces.keys():
            both = self.text([before, token])
            self._pieces[token] = both[len(alone) :] if both.startswith(alone) else self.text([token])
        return [self._pieces[token] for token in ids]

    def text(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))


def offer_tokenizer(processing: Any) -> _Tokenizer | None:
    """Return the tokenizer of a processing class, which may be one, hold one, or be an image processor."""
    tokenizer = getattr(processing, "tokenizer", processing)
    if not hasattr(tokenizer, "decode"):
        return None
    _tokenizers["last"] = tokenizer
    return _Tokenizer(tokenizer)


def _bind_tokenizers(module: ModuleType, session: Session) -> None:
    tokenizer_class = module.PreTrainedTokenizerBase
    build = tokenizer_class.__init__

    @session.shielded
    def remember(tokenizer: Any) -> None:
        _tokenizers["last"] = tokenizer
        session.fire(_loaded(tokenizer))

    @functools.wraps(build)
    def built(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        remember(self)

    tokenizer_class.__init__ = built


def _loaded(tokenizer: Any) -> Loaded:
    return Loaded(kind="tokenizer", item=_Tokenizer(tokenizer), source=type(tokenizer).__name__)


SHOWS = (Asked, Configured)
TURN = 1
BINDS = {
    "transformers.trainer": _bind_trainer,
    "transformers.modeling_utils": _bind_models,
    "transformers.tokenization_utils_base": _bind_tokenizers,
}
