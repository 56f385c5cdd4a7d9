"""What ``from_pretrained`` put into a model: its files, and what of the model they do not hold.

Heard where both ways of loading pass, ``PreTrainedModel._load_pretrained_model``, with the list of files that it was
resolved to. The library's account is finished after that, in place, so it is read when a training begins.

Source: transformers 4.57 and 5.24 modeling_utils; corpus L3-71, L3-72.
Blind to: models of a sharded runtime that loads by itself; what the library's account leaves out by design.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from affidavit.attach.session import Session


def bind_files(module: ModuleType, session: Session) -> None:
    # Not above: whoever imports transformers alone has not imported torch, and the modelling module has.
    from affidavit.adapters.torch.weights import Put, remember, telling

    model_class = module.PreTrainedModel
    slot = model_class.__dict__["_load_pretrained_model"]
    is_static = isinstance(slot, staticmethod)
    load = slot.__func__
    signature = inspect.signature(load)

    @session.shielded
    def tell(found: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        given = signature.bind(*args, **kwargs).arguments
        model = given["model"]
        # Names only: what else was given are models, open files and states.
        files, expected = (tuple(map(str, given.get(name) or ())) for name in ("checkpoint_files", "expected_keys"))
        own = frozenset(expected or (name for name, _ in model.named_parameters(remove_duplicate=False)))
        account = found[0] if is_static else dict(zip(_ACCOUNT, found[1:4]))
        prefix = f"{model.base_model_prefix}."

        def read() -> dict[str, Any]:
            missing, resized = (_part(account, name, own) for name in (_ACCOUNT[0], _ACCOUNT[2]))
            return {"missing": missing, "resized": resized, "files": () if expected else files, "prefix": prefix}

        put = Put(
            item=weakref.ref(model),
            kind="adapter" if expected else "model",
            source=f"{type(model).__name__}.from_pretrained",
            tensors=len(own),
            taken=len(own) - len(_part(account, _ACCOUNT[0], own)),
            names=own,
            read=read,
        )
        remember(put)

    @functools.wraps(load)
    def loaded(*args: Any, **kwargs: Any) -> Any:
        with telling():
            found = load(*args, **kwargs)
        tell(found, args, kwargs)
        return found

    model_class._load_pretrained_model = staticmethod(loaded) if is_static else classmethod(loaded)


_ACCOUNT = ("missing_keys", "unexpected_keys", "mismatched_keys")


def _part(account: Any, name: str, own: frozenset[str]) -> tuple[str, ...]:
    """Return one part of the library's account, of these places only; a mismatched one comes with its shapes."""
    part = account[name] if isinstance(account, dict) else getattr(account, name)
    names = (one if isinstance(one, str) else str(one[0]) for one in part)
    return tuple(one for one in names if one in own)
