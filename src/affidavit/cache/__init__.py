"""Caches whose key covers the meaning, and what tells of those whose key does not.

A digest's name records every parameter that changes the output; so does the key here: it is the digest of a pre-image
that is kept, whole, beside the entry. Standard library only and Python >= 3.10: this half runs in the user's process.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affidavit.cache.encoding import masks
    from affidavit.cache.encoding.encode import encode

__all__ = ["encode", "masks"]


def __getattr__(name: str) -> Any:
    """Load what users call when they call it; whoever only watches a cache does not pay for one."""
    if name == "encode":
        return importlib.import_module("affidavit.cache.encoding.encode").encode
    if name == "masks":
        return importlib.import_module("affidavit.cache.encoding.masks")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
