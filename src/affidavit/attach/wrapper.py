"""Wrappers: frameworks put their own around optimizer and scheduler, and the real ones are inside."""

from __future__ import annotations

from typing import Any


def innermost(item: Any, part: str, mark: str) -> Any:
    """Return what wrappers hold under ``part`` while that has ``mark``: the real optimizer, the real scheduler."""
    for _ in range(8):
        inner = getattr(item, part, None)
        if not hasattr(inner, mark):
            break
        item = inner
    return item
