"""Whether a key moves with the settings of an input: our own key, or one that somebody wrote by hand.

Source: cache probe.
Blind to: of our own key the content of a file, which it counts whatever it is; of another key what it does in a second
process, as with ``hash`` of a text.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from affidavit.cache.compare import plain
from affidavit.cache.isolated import isolated
from affidavit.cache.key import preimage_of
from affidavit.cache.preimage import Preimage, canonical, digest_of
from affidavit.cache.probe.bench import Bench, arguments
from affidavit.cache.probe.inputs import Input
from affidavit.cache.probe.movement import Movement, refused

_MOST = 4
_TRACED = 8
"""So many rows are traced for each key of ours that is asked; each row of a trace asks the system what is open."""
Moves = dict[str, dict[int, bool]]
"""By input, by the place of a setting: whether the key moved."""


def asked(inputs: Sequence[Input], movements: Mapping[str, Sequence[Movement]]) -> dict[str, list[int]]:
    """Return which settings a key is asked about: those that moved the output, and some that did not."""
    found: dict[str, list[int]] = {}
    for one in inputs:
        told = movements[str(one)]
        moving = [place for place, each in enumerate(told) if each.moves][:_MOST]
        found[str(one)] = moving + [place for place in range(len(told)) if place not in moving][:_MOST]
    return found


@dataclass(frozen=True)
class OwnKey:
    """The key that :func:`preimage_of` makes, asked as it is asked by whoever caches.

    Args:
        rows: are traced where the function reads anything, and empty otherwise.
    """

    bench: Bench
    rows: Sequence[Any]
    project: Path
    deadline: float
    artifacts: Sequence[str | Path] = ()
    irrelevant: Mapping[str, str] = field(default_factory=dict)

    def moves(self, inputs: Sequence[Input], places: Mapping[str, Sequence[int]]) -> Moves:
        """Return whether the key moves.

        Raises:
            KeyRefusedError: there is none.
        """
        before = self._preimage()
        parts = {(part.kind, part.name) for part in before.parts}
        found: Moves = {str(one): {} for one in inputs}
        for one in inputs:
            for place in places[str(one)]:
                if time.monotonic() > self.deadline:
                    return found
                if one.kind == "file":
                    found[str(one)][place] = not {("file", one.name), ("artifact", one.name)}.isdisjoint(parts)
                    continue
                try:
                    with one.settings[place].scope():
                        found[str(one)][place] = self._preimage().digest != before.digest
                except Exception:  # noqa: BLE001  refused by the key or by the user's class: nothing is cached then
                    found[str(one)][place] = True
        return found

    def _preimage(self) -> Preimage:
        from affidavit.cache.encoding.masks import parts_of

        found = preimage_of(
            self.bench.call,
            config=self.bench.config,
            tokenizer=self.bench.tokenizer,
            artifacts=self.artifacts,
            irrelevant=self.irrelevant,
            rows=self.rows[:_TRACED] or None,
            project=self.project,
        )
        return Preimage((*found.parts, *parts_of(self.bench.masks)))


@dataclass(frozen=True)
class TheirKey:
    """A key that a function of the user's makes: of a configuration, of its fields, or of nothing."""

    key: Callable[..., Any]
    bench: Bench
    deadline: float

    def moves(self, inputs: Sequence[Input], places: Mapping[str, Sequence[int]]) -> Moves:
        """Return whether the key moves.

        Raises:
            ProbeRefusedError: there is none, or it moves where nothing has changed.
        """

        def work() -> Iterator[dict[str, Any]]:
            before = self._made()
            yield {"same": before == self._made(), "moves": {}}
            moves: dict[str, list[list[Any]]] = {}
            for one in inputs:
                rows = moves.setdefault(str(one), [])
                for place in places[str(one)]:
                    after = None
                    with suppress(Exception), one.settings[place].scope():
                        after = self._made()
                    rows.append([place, after != before])
                yield {"same": before == self._made(), "moves": moves}

        result = isolated(work, seconds=max(self.deadline - time.monotonic(), 0.5))
        if result.ended not in ("done", "time limit") or result.value is None:
            saw = f"it {result.ended}: {result.why}"
            raise refused("a key", saw, "Give the probe a configuration from which it can be made.")
        if not result.value["same"]:
            saw = "another key where nothing had changed"
            raise refused("one key of one input", saw, "A key that moves by itself never hits.")
        moves = result.value["moves"]
        return {str(one): {place: bool(told) for place, told in moves.get(str(one), ())} for one in inputs}

    def _made(self) -> str:
        made = self.key(**arguments(self.key, self.bench.config, self.bench.tokenizer, after=0))
        return digest_of(canonical(json.loads(json.dumps(plain(made), default=repr))))
