"""Names given to the model itself → moments: a forward with ``**kwargs`` takes any, and computes without it.

Heard once, in the sampled step. Where a trainer makes the call, its batches have the columns of the data and more;
there a name is told only where it is almost one that the model takes.

Source: hf-stack-spike §1 (``model(..., attention_maks=)``).
Blind to: a model whose forward names nothing; names by position.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType
from typing import Any

from affidavit.attach.session import Session
from affidavit.names.answer import nearest
from affidavit.names.consumed import is_own
from affidavit.names.handed import hand, is_new

_BETWEEN = ("torch", "accelerate", "affidavit", "functools", "contextlib", "deepspeed", "peft")
"""Packages that hand a call of the model on as the script made it."""


def hear_names(session: Session, modules: Iterable[Any], kwargs: Mapping[str, object], frame: FrameType | None) -> None:
    """Tell which names the model was called with, and which of them its forward does not name."""
    if not kwargs:
        return
    kinds = [type(module) for module in modules]
    known: set[str] = set()
    for kind in kinds:
        parameters = inspect.signature(kind.forward).parameters.values()
        known.update(one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY))
        if not any(one.kind is one.VAR_KEYWORD for one in parameters):
            return  # what it does not know it refuses
    known.discard("self")
    own, is_direct = _caller(frame)
    extra = [name for name in kwargs if name not in known]
    if own is None or not is_new(own, kinds[-1]):
        return
    if not is_direct:
        extra = [name for name in extra if nearest(name, known)]
    names = tuple(kwargs) if is_direct else tuple(extra)
    callee = f"{kinds[-1].__name__}.forward"
    if names:
        lost = dict.fromkeys(extra, "**kwargs of forward, past everything that the model names")
        hand(session, own, callee, names, kinds[-1], astray=lost, known=known)


def _caller(frame: FrameType | None) -> tuple[FrameType | None, bool]:
    """Return the script's frame that a call of the model comes from, and whether it made the call itself."""
    is_direct = True
    for one in _outward(frame):
        if is_own(one.f_code.co_filename):
            return one, is_direct
        is_direct = is_direct and str(one.f_globals.get("__name__")).partition(".")[0] in _BETWEEN
    return None, False


def _outward(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
