"""What each setting of an input makes of the output, found in children that can change nothing.

Source: cache probe.
Blind to: a function that remembers earlier rows, by the rows alone, in a file that it wrote before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from affidavit.attach.guard import describe
from affidavit.cache.compare import fingerprint
from affidavit.cache.isolated import isolated
from affidavit.cache.probe.bench import Bench, Made, moved, raised
from affidavit.cache.probe.inputs import Input, Setting
from affidavit.fact.errors import AffidavitError, refusal

NATIVE = "native code opens it, and was given no other content"
MEMORY = "the function itself writes it"
_SEARCHED = 256
_FRESH = 6


class ProbeRefusedError(AffidavitError):
    """The function or its key cannot be probed, so nothing is said of any input."""


@dataclass(frozen=True)
class Movement:
    """What one setting did: the number among all rows of the first that moved, or -1, its fields; or an error."""

    row: int = -1
    fields: str = ""
    error: str = ""

    @property
    def moves(self) -> bool:
        return self.row >= 0


@dataclass(frozen=True)
class Mover:
    """Moves the inputs of a function on a bench.

    Args:
        rows: that every setting is tried on; ``numbers`` are theirs among ``everything``, which is searched.
        memories: caches of :mod:`functools` that are emptied in between.
        deadline: of ``time.monotonic``; what was not reached by then moved nothing.
    """

    bench: Bench
    rows: Sequence[Any]
    numbers: Sequence[int]
    everything: Sequence[Any]
    memories: Sequence[Any]
    deadline: float

    @property
    def left(self) -> float:
        return max(self.deadline - time.monotonic(), 0.5)

    def steady(self) -> None:
        """Refuse a function that gives other rows the second time, or none at all.

        Raises:
            ProbeRefusedError: it does.
        """

        def twice() -> dict[str, Any]:
            one = self.bench.measure(self.rows, self.memories)
            other = self.bench.measure(list(reversed(self.rows)), self.memories)[::-1]
            differs = moved(one, other)
            errors = [text for came, text in one if not came]
            return {"differs": differs[0] if differs else -1, "errors": errors[:1], "failed": len(errors)}

        result = isolated(twice, seconds=self.left)
        if result.ended != "done":
            raise unsteady(f"it {result.ended}: {result.why}")
        if result.value["failed"] == len(self.rows):
            saw = f"an error on each of {len(self.rows):,}: {result.value['errors'][0]}"
            raise refused("rows that come out", saw, "Give it rows and a configuration that it takes.")
        if result.value["differs"] >= 0:
            raise unsteady(f"row {self.numbers[result.value['differs']]} came out otherwise the second time")

    def movements(self, inputs: Sequence[Input]) -> dict[str, list[Movement]]:
        """Return by input what each of its settings does; of one that time did not reach, nothing."""

        def work() -> Iterator[dict[str, Any]]:
            held = {str(one): fingerprint(one.now) for one in inputs if one.kind == "global"}
            before = self.bench.measure(self.rows, self.memories)
            said: dict[str, Any] = {}
            for one in inputs:
                if str(one) in held and fingerprint(one.now) != held[str(one)]:
                    said[str(one)] = [(-1, "", MEMORY)]
                    yield said
                    continue
                said[str(one)] = told = [self._try(setting, before) for setting in one.settings]
                if one.kind == "file" and not one.opened:
                    said[str(one)] = [(-1, "", NATIVE)] * len(told)
                yield said

        result = isolated(work, seconds=self.left)
        if result.ended == "refused":
            raise unsteady(f"it reached for {result.why}")
        said: dict[str, list[Any]] = result.value or {}
        return {str(one): [Movement(*told) for told in said.get(str(one), ())] for one in inputs}

    def look_again(self, inputs: Sequence[Input], found: dict[str, list[Movement]]) -> None:
        """Ask inputs that moved nothing once more: in processes that were never asked before, and on all rows."""
        if not inputs:
            return
        before = self._fresh(None)
        for one in inputs:
            self._again(one, found[str(one)], before)
        still = [one for one in inputs if not any(each.moves for each in found[str(one)])]
        if still and len(self.everything) > len(self.rows) and time.monotonic() < self.deadline:
            self._search(still, found)

    def _try(self, setting: Setting, before: Sequence[Made]) -> tuple[int, str, str]:
        after, error = self._within(setting, self.rows)
        if after is None:
            return -1, "", error
        found = moved(before, after)
        if found is None:
            return -1, "", raised(before, after)
        return self.numbers[found[0]], ", ".join(found[1])[:80], ""

    def _within(self, setting: Setting, rows: Sequence[Any]) -> tuple[list[Made] | None, str]:
        try:
            with setting.scope():
                return self.bench.measure(rows, self.memories), ""
        except Exception as error:  # noqa: BLE001  a class of the user's refuses the value
            return None, describe(error)

    def _again(self, one: Input, told: list[Movement], before: list[str]) -> None:
        """Ask an input that moved nothing again, each time in a process that was never asked before.

        A function that remembers its rows gives the first answer to every later question.
        """
        for place, setting in enumerate(one.settings[:_FRESH]):
            if place >= len(told) or time.monotonic() > self.deadline:
                return
            after = self._fresh(setting)
            rows = [row for row, (old, new) in enumerate(zip(before, after)) if old and new and old != new]
            if rows:
                told[place] = Movement(self.numbers[rows[0]])

    def _fresh(self, setting: Setting | None) -> list[str]:
        def work() -> list[str]:
            made = self.bench.measure(self.rows) if setting is None else self._within(setting, self.rows)[0]
            return [fingerprint(value) if came else "" for came, value in made or ()]

        result = isolated(work, seconds=self.left)
        return result.value or [] if result.ended == "done" else []

    def _search(self, inputs: Sequence[Input], found: dict[str, list[Movement]]) -> None:
        """Look among all rows for one on which each of these inputs matters."""
        settings = {str(one): one.settings[: len(found[str(one)])] for one in inputs}

        def work() -> Iterator[dict[str, list[Any]]]:
            said: dict[str, list[Any]] = {}
            for begin in range(0, len(self.everything), _SEARCHED):
                rows = self.everything[begin : begin + _SEARCHED]
                before = self.bench.measure(rows)
                for name in [name for name in settings if name not in said]:
                    for place, setting in enumerate(settings[name]):
                        if hit := moved(before, self._within(setting, rows)[0] or ()):
                            said[name] = [place, begin + hit[0], ", ".join(hit[1])[:80]]
                            break
                yield said
                if len(said) == len(settings):
                    return

        result = isolated(work, seconds=self.left)
        if result.value and result.ended in ("done", "time limit"):
            for name, (place, row, fields) in result.value.items():
                found[name][place] = Movement(row, fields)


def unsteady(saw: str) -> ProbeRefusedError:
    """Return the error for a function that has no output which could be told to have moved."""
    return refused("the same output from the same input", saw, "Seed it from the row, and keep files and sockets out.")


def refused(expected: str, saw: str, action: str) -> ProbeRefusedError:
    return ProbeRefusedError(
        refusal(
            subject="cache probe",
            expected=expected,
            saw=saw,
            means="Nothing can be said of any input.",
            action=action,
            unaffected="what is cached",
        )
    )
