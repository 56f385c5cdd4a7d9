"""Savers that are heard: each stays what it was, and tells where it saved once it has.

Blind to: what a saver is given instead of a path (an open file, a buffer); whoever opened it knows where it lies.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from affidavit.attach.moment import Written
from affidavit.attach.redact import redact
from affidavit.attach.session import Session


class _Saving(threading.local):
    """Whether this thread is inside of a saver already, which will tell of the whole."""

    yes = False


_saving = _Saving()

Call = Mapping[str, Any]
"""The arguments of a call by their names; those that have a default and were not given are not there."""


def heard(
    save: Callable[..., Any],
    session: Session,
    *,
    form: str,
    path: str,
    writes: Callable[[Call], bool] | None = None,
) -> Callable[..., Any]:
    """Return a saver that tells where it saved.

    What another one calls on its way is not heard: the file of a folder, or the part of a checkpoint.

    Args:
        path: the parameter that says where; where it is not given, what the saver returns is the place.
        writes: says whether this process is the one that writes; every one is by default.
    """
    signature = inspect.signature(save)

    @session.shielded
    def tell(call: Call, found: Any, began: float) -> None:
        place = call.get(path) if call.get(path) is not None else found
        if isinstance(place, (str, os.PathLike)) and (writes is None or writes(call)):
            session.wrote(Written(path=located(place), form=form, began=began))

    @functools.wraps(save)
    def saved(*args: Any, **kwargs: Any) -> Any:
        if _saving.yes or not session.keeps:
            return save(*args, **kwargs)
        began = time.time()
        _saving.yes = True
        try:
            found = save(*args, **kwargs)
        finally:
            _saving.yes = False
        tell(_named(signature, args, kwargs), found, began)
        return found

    return saved


def located(place: str | os.PathLike[str]) -> str:
    """Return a place so that it is found from everywhere; an address of a store stays as it is."""
    path = os.fspath(place)
    return redact(path) if "://" in path else os.path.normpath(Path(path).absolute())


def is_main(call: Call) -> bool:
    """Say what ``is_main_process`` says, which the savers of Hugging Face take; it is True where nobody says."""
    return bool(call.get("is_main_process", True))


def _named(signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
    call = signature.bind_partial(*args, **kwargs).arguments
    return {**kwargs, **call}
