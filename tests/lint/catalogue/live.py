"""The live signatures of dotted callables, asked on standard input and printed as JSON."""

from __future__ import annotations

import importlib
import inspect
import json
import sys

KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def told(dotted: str) -> dict[str, object]:
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        break
    for part in parts[count:]:
        found = getattr(found, part)
    parameters = inspect.signature(found).parameters  # type: ignore[arg-type]
    return {
        "names": {name: default(one.default) for name, one in parameters.items() if one.kind in KINDS},
        "open": any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()),
    }


def default(value: object) -> object:
    """A literal as it is, "absent" for none, and nothing of what no literal shows."""
    if value is inspect.Parameter.empty:
        return "absent"
    return [value] if type(value) in (bool, int, float, str, type(None)) else "object"


print(json.dumps({name: told(name) for name in json.load(sys.stdin)}))
