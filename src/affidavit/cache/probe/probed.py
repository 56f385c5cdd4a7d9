"""What a probe found: a verdict for each input, kept beside the entries, and bound to the code that it was about.

Source: cache key; a verdict on code that has changed since says nothing of the code that runs.
Blind to: a function that is reached now and was not then, where nothing that was reached then has changed.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any

from affidavit.cache.key.reach import reach_of
from affidavit.cache.key.source import digest_of_code
from affidavit.cache.store import default_folder
from affidavit.cache.store.place import Place

FORMAT = 1
COVERED, FAULT, OVER_KEYED, UNPROVEN, IRRELEVANT = "COVERED", "FAULT", "OVER-KEYED", "UNPROVEN", "DECLARED-IRRELEVANT"
VERDICTS = (FAULT, UNPROVEN, OVER_KEYED, COVERED, IRRELEVANT)
"""The worst first."""
FOLDER = "probes"
_MOST = 64
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Found:
    """What is known of one input.

    Args:
        change: what was done to it when the output moved; "" where it never did.
        row: the first row that moved, or -1; ``fields`` are those of it that did.
        tried: how many other values were tried.
        why: what keeps the verdict from being a better one, or the reason of whoever declared it irrelevant.
    """

    verdict: str
    kind: str
    name: str
    change: str = ""
    row: int = -1
    fields: str = ""
    tried: int = 0
    why: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Probe:
    """The verdicts on all inputs of one function under one key.

    Args:
        key: the function that makes it, or ``ours``.
        sources: name of each function that was reached → the digest of what its code does.
        written: Unix seconds.
    """

    function: str
    key: str
    found: tuple[Found, ...]
    rows: int
    sources: Mapping[str, str]
    seconds: float = 0.0
    written: float = field(default_factory=time.time)

    def of(self, verdict: str) -> tuple[Found, ...]:
        return tuple(one for one in self.found if one.verdict == verdict)

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, said: Any) -> Probe | None:
        """Return what was written down, or None where it is not of our form."""
        try:
            if said.pop("format") != FORMAT:
                return None
            found = tuple(Found(**row) for row in said.pop("found"))
            return cls(found=found, **said)
        except (AttributeError, KeyError, TypeError):
            return None

    def changed(self) -> tuple[str, ...] | None:
        """Return which of its functions are not what they were, in this process.

        None where the function or what makes its key is not in use here: a key that went takes its probe along.
        """
        used = (self.function, *((self.key,) if ":" in self.key else ()))
        if any(live(name.replace(":", ".")) is None for name in used):
            return None
        return tuple(sorted(name for name, digest in self.sources.items() if live(name) != digest))


def sources_of(project: Path, *functions: Callable[..., Any]) -> dict[str, str]:
    """Return what each first-party function that these can reach does, by its name in its module."""
    found: dict[str, str] = {}
    for function in functions:
        for name in reach_of(function, project).of_kind("source"):
            if (digest := live(name)) is not None:
                found[name] = digest
    return dict(sorted(found.items()))


def live(name: str) -> str | None:
    """Return what the function of a dotted name does in this process; None where nothing is imported under it."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:length])) or _as_script(parts[:length])
        if module is None:
            continue
        found: Any = module
        for part in parts[length:]:
            found = vars(found).get(part) if hasattr(found, "__dict__") else None
            found = getattr(found, "__func__", found)
        while hasattr(found, "__wrapped__"):
            found = found.__wrapped__
        return digest_of_code(found.__code__) if isinstance(found, FunctionType) else None
    return None


def _as_script(parts: list[str]) -> Any:
    """Return the script that runs, where a module of its name is asked for."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    return main if file and parts == [Path(file).stem] else None


def keep(probe: Probe, root: Path | None = None) -> Path:
    """Write a probe down, in the place of an earlier one of the same function and key, and return where it lies."""
    place = Place(root or default_folder())
    if not place.has(".gitignore"):
        place.put_new(".gitignore", b"*\n")
    name = re.sub(r"[^\w.-]", "_", f"{probe.function}--{probe.key}")[:160]
    place.put(f"{FOLDER}/{name}.json", json.dumps(probe.to_json(), sort_keys=True, indent=1).encode())
    return place.path(f"{FOLDER}/{name}.json")


def kept(root: Path | None = None) -> Iterator[Probe]:
    """Yield the probes that were written down, sorted by their names; what is not of our form is passed over."""
    place = Place(root or default_folder())
    for name in place.names(FOLDER)[:_MOST]:
        path = place.path(name)
        if path.suffix == ".json" and path.stat().st_size <= _MOST_BYTES:
            try:
                said = json.loads(place.read(name) or b"null")
            except ValueError:
                continue
            if (found := Probe.from_json(said)) is not None:
                yield found
