"""Constructors and loaders that swallow names → moments: what the script handed over, and what was only put aside.

Each place is bound where names end that nobody took, and looks no further than the calling frame unless that is the
script's own. A config's or tokenizer's file is no script, and neither is a library that calls a library.

Source: transformers 4.57 and 5.24; hf-stack-spike §1; anchors-mechanisms C2 ("who swallows at run time").
Blind to: processors and image processors; a call that is made inside of another package, for the script; a name that
was given as None.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from types import FrameType, ModuleType
from typing import Any

from affidavit.adapters.transformers.arguments import keywords
from affidavit.adapters.transformers.known import LOADER, attributes, parameters, swallows
from affidavit.adapters.transformers.template import unread_by_template
from affidavit.attach.session import Session
from affidavit.names.consumed import astray, caller, is_own
from affidavit.names.handed import hand, is_new

Told = Callable[[Any, Any, Mapping[str, Any], FrameType], None]
DROPPED = "dropped: the object that was made does not have it"


def bind_configs(module: ModuleType, session: Session) -> None:
    config_class = getattr(module, "PreTrainedConfig", None) or module.PretrainedConfig
    last = "__post_init__" if "__post_init__" in vars(config_class) else "__init__"
    finish = vars(config_class)[last]

    @session.shielded
    def tell(config: Any, kwargs: Mapping[str, Any], frame: FrameType) -> None:
        kind = type(config)
        if is_new(frame, kind):
            lost = astray(config, kwargs)
            given = dict.fromkeys((*(keywords(frame) or ()), *kwargs))
            hand(session, frame, kind.__name__, given, kind, astray=lost, known=attributes(config, lost))

    @functools.wraps(finish)
    def finished(self: Any, *args: Any, **kwargs: Any) -> None:
        finish(self, *args, **kwargs)
        given = _given(kwargs)
        if given:
            frame = _maker(self, sys._getframe(1))
            if frame is not None:
                tell(self, given, frame)

    setattr(config_class, last, finished)
    _enter(config_class, "from_pretrained", session, _config_loaded(session))


def bind_auto_config(module: ModuleType, session: Session) -> None:
    _enter(module.AutoConfig, "from_pretrained", session, _config_loaded(session))


def bind_generation(module: ModuleType, session: Session) -> None:
    _enter(module.GenerationConfig, "__init__", session, _made(session))


def bind_quantization(module: ModuleType, session: Session) -> None:
    for kind in tuple(vars(module).values()):
        if isinstance(kind, type) and kind.__module__ == module.__name__ and swallows(vars(kind).get("__init__")):
            _enter(kind, "__init__", session, _made(session))


def bind_auto_models(module: ModuleType, session: Session) -> None:
    """Hear all names that a loader gets; the model's own, behind it, is given fewer."""

    def tell(asked: Any, model: Any, kwargs: Mapping[str, Any], frame: FrameType) -> None:
        callee = f"{asked.__name__}.from_pretrained"
        if is_new(frame, callee):
            hand(session, frame, callee, kwargs, callee, astray={})
        tell_types(session, callee, model[0] if isinstance(model, tuple) else model, kwargs, frame)

    _enter(module._BaseAutoModelClass, "from_pretrained", session, tell)


def bind_auto_tokenizer(module: ModuleType, session: Session) -> None:
    _enter(module.AutoTokenizer, "from_pretrained", session, _tokenizer_loaded(session))


def bind_tokenizer_calls(module: ModuleType, session: Session) -> None:
    kind = module.PreTrainedTokenizerBase
    _enter(kind, "from_pretrained", session, _tokenizer_loaded(session))
    _bind_call(kind, session)

    def tell(tokenizer: Any, _: Any, kwargs: Mapping[str, Any], frame: FrameType) -> None:
        named = parameters(type(tokenizer), ("apply_chat_template",))
        left = [name for name in kwargs if name not in named]
        template = kwargs.get("chat_template") or tokenizer.chat_template
        mark = hash(str(template))
        if is_new(frame, mark):
            lost, variables = unread_by_template(tokenizer, kwargs, left)
            hand(session, frame, "apply_chat_template", kwargs, mark, astray=lost, known=(*named, *variables))

    _enter(kind, "apply_chat_template", session, tell, known=parameters(kind, ("apply_chat_template",)))


def _bind_call(kind: type[Any], session: Session) -> None:
    """Hear names that a tokenizer's call does not know. It is called for every row: a known name costs a look-up."""
    call = kind.__call__
    known = parameters(kind, _ENCODERS)
    is_known = known.issuperset

    @session.shielded
    def tell(tokenizer: Any, kwargs: Mapping[str, Any], frame: FrameType) -> None:
        own = type(tokenizer)
        left = [name for name in kwargs if name not in parameters(own, _ENCODERS)]
        if left and is_new(frame, own):
            lost = dict.fromkeys(left, "dropped on the way to the encoder")
            hand(session, frame, f"{own.__name__}.__call__", kwargs, own, astray=lost, known=known)

    left = [_OFTEN_ENOUGH * 50]

    @functools.wraps(call)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = call(self, *args, **kwargs)
        if kwargs and not is_known(kwargs) and left[0]:
            left[0] -= 1
            frame = caller(sys._getframe(1))
            given = _given(kwargs)
            if frame is not None and given:
                tell(self, given, frame)
        return result

    kind.__call__ = called


_ENCODERS = ("__call__", "_encode_plus", "_batch_encode_plus", "_call_one", "prepare_for_tokenization")


def tell_loaded(session: Session, model: Any, kwargs: Mapping[str, Any], frame: FrameType | None) -> None:
    """Tell what the script gave to a model's loader; a model whose constructor takes any name may have taken it."""
    frame, kwargs = caller(frame), _given(kwargs)
    kind = type(model)
    if frame is None or not kwargs or not is_new(frame, kind):
        return
    written = keywords(frame)
    kwargs = {name: value for name, value in kwargs.items() if written is None or name in written}
    config = getattr(model, "config", None)
    named = parameters(kind, ("__init__",))
    lost: dict[str, str] = {}
    if swallows(kind.__init__):
        place = f"**kwargs of {kind.__name__}.__init__"
        lost = {name: place for name in kwargs if name not in named and not hasattr(config, name)}
    known = (*named, *attributes(config, ()), *LOADER)
    if lost:
        hand(session, frame, f"{kind.__name__}.from_pretrained", lost, kind, astray=lost, known=known)
    tell_types(session, f"{kind.__name__}.from_pretrained", model, kwargs, frame)


def tell_types(session: Session, callee: str, model: Any, kwargs: Mapping[str, Any], frame: FrameType) -> None:
    """Tell of two names for one thing, of which one is not heeded: the live model says which."""
    pair = {name: str(kwargs[name]).removeprefix("torch.") for name in ("torch_dtype", "dtype") if name in kwargs}
    live = str(getattr(model, "dtype", "")).removeprefix("torch.")
    if len(set(pair.values())) < 2 or "auto" in pair.values() or live not in pair.values() or "None" in pair.values():
        return
    (loser,) = (name for name, value in pair.items() if value != live)
    (winner,) = (name for name, value in pair.items() if value == live)
    if is_new(frame, "types"):
        place = f"{winner} was given beside it, and the model has that type"
        hand(session, frame, callee, pair, "types", astray={loser: place}, sure={loser: winner})


def _config_loaded(session: Session) -> Told:
    def tell(asked: Any, config: Any, kwargs: Mapping[str, Any], frame: FrameType) -> None:
        if isinstance(config, tuple):
            return  # what it did not use went back to the caller
        kind = type(config)
        if is_new(frame, kind):
            lost = {name: DROPPED for name in kwargs if not hasattr(config, name)}
            known = (*attributes(config, ()), *LOADER)
            callee = f"{asked.__name__}.from_pretrained"
            hand(session, frame, callee, kwargs, kind, astray=lost, known=known)

    return tell


def _tokenizer_loaded(session: Session) -> Told:
    def tell(asked: Any, tokenizer: Any, kwargs: Mapping[str, Any], frame: FrameType) -> None:
        kind = type(tokenizer)
        if is_new(frame, kind):
            named = parameters(kind, ("__init__", "from_pretrained", "_from_pretrained"))
            given = {name: value for name, value in kwargs.items() if name not in named}
            missing = {name: DROPPED for name in given if not hasattr(tokenizer, name)}
            known = (*named, *attributes(tokenizer, given))
            lost = {**missing, **astray(tokenizer, given)}
            callee = f"{asked.__name__}.from_pretrained"
            hand(session, frame, callee, kwargs, kind, astray=lost, known=known)

    return tell


def tell_built(session: Session, tokenizer: Any, kwargs: Mapping[str, Any], frame: FrameType | None) -> None:
    """Tell what the script gave to a tokenizer's constructor and what no class of it took."""
    kwargs = _given(kwargs)
    maker = _maker(tokenizer, frame) if kwargs else None
    kind = type(tokenizer)
    if maker is not None and is_new(maker, kind):
        named = parameters(kind, ("__init__",))
        lost = astray(tokenizer, {name: value for name, value in kwargs.items() if name not in named})
        hand(session, maker, kind.__name__, kwargs, kind, astray=lost, known=(*named, *attributes(tokenizer, kwargs)))


def _made(session: Session) -> Told:
    def tell(item: Any, _: Any, kwargs: Mapping[str, Any], frame: FrameType) -> None:
        kind = type(item)
        if is_new(frame, kind):
            named = parameters(kind, ("__init__",))
            given = {name: value for name, value in kwargs.items() if name not in named}
            lost = {**{name: DROPPED for name in given if not hasattr(item, name)}, **astray(item, given)}
            known = (*named, *attributes(item, lost))
            hand(session, frame, kind.__name__, kwargs, kind, astray=lost, known=known)

    return tell


_OFTEN_ENOUGH = 20
"""A line that made so many calls has shown what it hands over, to whichever classes and templates it meets."""


def _enter(owner: type[Any], name: str, session: Session, tell: Told, *, known: frozenset[str] = frozenset()) -> None:
    """Have a method tell of the names that the script itself gave it, once it has returned.

    Names that are all ``known`` are told of the first calls only: a method that has such may be called for every row.
    """
    is_known = known.issuperset
    looks = [_OFTEN_ENOUGH * 10]
    held = vars(owner)[name]
    inner = held.__func__ if isinstance(held, classmethod) else held
    told = session.shielded(tell)
    times: dict[tuple[int, int], int] = {}

    @functools.wraps(inner)
    def entered(first: Any, *args: Any, **kwargs: Any) -> Any:
        result = inner(first, *args, **kwargs)
        if kwargs and (looks[0] or not is_known(kwargs)):
            looks[0] -= bool(known and looks[0])
            frame = sys._getframe(1)
            key = (id(frame.f_code), frame.f_lasti)
            heard = times.get(key, 0)
            if heard < _OFTEN_ENOUGH:
                times[key] = heard + 1
                given = _given(kwargs)
                if given and is_own(frame.f_code.co_filename):
                    told(first, result, given, frame)
        return result

    setattr(owner, name, classmethod(entered) if isinstance(held, classmethod) else entered)


def _given(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given: a script hands on every option that it has, and None is one that nobody chose."""
    return {name: value for name, value in kwargs.items() if value is not None}


def _maker(item: Any, frame: FrameType | None) -> FrameType | None:
    """Return the script's frame that made an object, past the constructors of its classes."""
    while frame is not None and "init" in frame.f_code.co_name:
        code = frame.f_code
        if is_own(code.co_filename) and (not code.co_argcount or frame.f_locals[code.co_varnames[0]] is not item):
            break
        frame = frame.f_back
    return caller(frame)
