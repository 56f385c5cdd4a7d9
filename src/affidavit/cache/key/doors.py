"""What no value stands for: the environment, files, chance, other machines, and code that is made at run time.

Source: hf-stack-spike §5: a file read, a variable read and a draw from the global random state were stale, all three.
Blind to: a door behind a package's own function.
"""

from __future__ import annotations

import importlib
import io
import os
import random
import sys
from collections.abc import Callable
from typing import Any

from affidavit.cache.key.gathered import Gathered
from affidavit.cache.key.naming import ABSENT

OPENING_NAMES = frozenset(("read_text", "read_bytes"))
"""Of methods that open the file that their object names."""
_AT_RUN_TIME: dict[str, Any] = {
    "eval": eval,
    "exec": exec,
    "__import__": __import__,
    "globals": globals,
    "import_module": importlib.import_module,
}
_OPENING = (open, io.open, os.open, io.FileIO)
_NETWORK = frozenset(("aiohttp", "httpx", "requests", "socket", "subprocess", "urllib3"))


def is_importing(value: Any) -> bool:
    return value is importlib.import_module


def is_door(value: Any, literal: str | None, reader: str, gathered: Gathered, text: Callable[[str], str]) -> bool:
    """Say whether a value is no value but leads out of the process; where, is noted.

    Args:
        value: what the code reads.
        literal: the string that stands beside it.
        reader: the code's name.
        gathered: where a variable of the environment is a part, and an open door is an accusation.
        text: takes the project's place out of a text.
    """
    if value is os.environ or value is os.getenv or value is getattr(os, "environb", ABSENT):
        if literal is not None:
            gathered.variable(literal, text)
        else:
            gathered.accused.setdefault("environment", f"{reader} reads a variable that it names at run time")
        return True
    unseen = next((name for name, made in _AT_RUN_TIME.items() if value is made), "")
    if unseen:
        gathered.problem(f"source {reader}", f"{unseen}, which runs or finds what no source shows")
        return True
    door, how = _door_of(value)
    if door:
        gathered.accused.setdefault(door, f"{reader} {how}")
    return door in ("files", "random")


def _door_of(value: Any) -> tuple[str, str]:
    if any(value is each for each in _OPENING):
        return "files", "calls open"
    if _is_chance(value):
        return "random", f"draws from {getattr(value, '__name__', 'random')}"
    module = str(getattr(value, "__module__", "") or getattr(value, "__name__", "")).partition(".")[0]
    return ("network", f"reaches for {module}") if module in _NETWORK else ("", "")


def _is_chance(value: Any) -> bool:
    """Say whether a value draws from a state that the whole process shares."""
    owner = getattr(value, "__self__", None)
    if owner is getattr(random, "_inst", ABSENT):
        return True
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and owner is not None and owner is getattr(numpy.mtrand, "_rand", ABSENT):
        return True
    torch = sys.modules.get("torch")
    drawing = ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial")
    return torch is not None and any(value is getattr(torch, name, ABSENT) for name in drawing)
