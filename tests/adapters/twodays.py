"""A world in which something is cached on one day and asked for again on the next, when what made it has changed.

A row is a generator: it yields what is cached on the first day, and, after the change, on the second. Each test asserts
that the peer really serves the old result, so that a peer which mends its key makes the row fail.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import datasets as library

from affidavit.attach.moment import CacheHit
from affidavit.cache.canary import Sighting, examine

SECONDS = 20.0
Days = Iterator[Any]


@dataclass
class World:
    """A folder with modules, rows on the disk, and what was fired."""

    folder: Path
    fired: list[CacheHit] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def shielded(self, call: Callable[..., None]) -> Callable[..., None]:
        return call

    def fire(self, moment: Any) -> None:
        self.fired.append(moment)

    def module(self, name: str, source: str, *, installed: bool = False) -> types.ModuleType:
        """Write a module, or write it anew, and return it freshly imported; the one that was loaded stays the same."""
        place = self.folder / "site-packages" if installed else self.folder
        place.mkdir(exist_ok=True)
        (place / f"{name}.py").write_text(source)
        if str(place) not in sys.path:
            sys.path.insert(0, str(place))
        importlib.invalidate_caches()
        self.names.append(name)
        return importlib.reload(sys.modules[name]) if name in sys.modules else importlib.import_module(name)

    def main(self, source: str, **given: Any) -> dict[str, Any]:
        """Return the globals of a script that was run."""
        names = {"__name__": "__main__", **given}
        exec(source, names)
        return names

    def rows(self) -> Any:
        place = self.folder / "rows"
        if not place.exists():
            made = library.Dataset.from_list([{"x": number} for number in range(30)])
            made.save_to_disk(place)
        return library.load_from_disk(place)


def looked(world: World) -> Sighting:
    (hit,) = world.fired
    return examine(hit, seconds=SECONDS)
