"""Joblib → moments: calls of a ``Memory`` that were answered from its folder.

Source: joblib 1.6 memory (``MemorizedFunc._cached_call``, which calls ``_load_item`` where it has the result).
Blind to: results that are shelved and loaded later; coroutines; the hits between two that are powers of two, since a
function may be served a million times; other processes, which are not the one that trains.
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from affidavit.attach.moment import CacheHit
from affidavit.attach.session import Session

_loaded = threading.local()


def bind(module: ModuleType, session: Session) -> None:
    kind = module.MemorizedFunc
    counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    @session.shielded
    def tell(memorised: Any, args: Any, kwargs: Any, made: Any, written: float) -> None:
        count = counts[memorised] = counts.get(memorised, 0) + 1
        if not count & (count - 1):
            session.fire(_hit(memorised, args, kwargs, made, written))

    load, call = kind.__dict__["_load_item"], kind.__dict__["_cached_call"]

    @functools.wraps(load)
    def load_item(self: Any, call_id: Any, *args: Any, **kwargs: Any) -> Any:
        made = load(self, call_id, *args, **kwargs)
        _loaded.call = self, call_id
        return made

    @functools.wraps(call)
    def cached_call(self: Any, args: Any, kwargs: Any, *rest: Any, **named: Any) -> Any:
        _loaded.call = None
        answer = call(self, args, kwargs, *rest, **named)
        loaded, _loaded.call = _loaded.call, None
        if loaded is not None and loaded[0] is self and type(self) is kind:
            tell(self, args, kwargs, answer[0], _written(self, loaded[1]))
        return answer

    kind._load_item, kind._cached_call = load_item, cached_call


def _hit(memorised: Any, args: Any, kwargs: Any, made: Any, written: float) -> CacheHit:
    served = _rows(made)

    def recompute(rows: Sequence[int]) -> list[Any]:
        again = _rows(memorised.func(*args, **kwargs))
        return again if len(rows) == len(served) else [again[row] for row in rows if row < len(again)]

    return CacheHit(
        cache="joblib.Memory",
        entry=str(getattr(memorised, "func_id", "")),
        function=memorised.func,
        rows=len(served),
        stored=lambda rows: [served[row] for row in rows],
        recompute=recompute,
        batch=lambda _: range(len(served)),
        written=written,
    )


def _rows(made: Any) -> list[Any]:
    """Return the rows of a result that has some; anything else is one row."""
    return list(made) if type(made) in (list, tuple) and made else [made]


def _written(memorised: Any, call_id: Any) -> float:
    try:
        folder = os.path.join(memorised.store_backend.location, *call_id)  # noqa: PTH118
        return os.stat(os.path.join(folder, "output.pkl")).st_mtime  # noqa: PTH116, PTH118
    except (OSError, AttributeError, TypeError):
        return 0.0


BINDS = {"joblib.memory": bind}
