"""One marked test is asked: a clean run, a tripwire, every disarm, and a clean run again.

Source: anchors-mechanisms C6 (baseline first; a tripwire before disarms; a harness that reported falsely twice).
"""

from __future__ import annotations

import hashlib
import inspect
import linecache
import textwrap
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from affidavit.mutation.mutant import Mutant, Subject
from affidavit.mutation.swap import RestoreError, armed
from affidavit.mutation.target import TargetError, resolve
from affidavit.pytest_plugin.alone import Alone
from affidavit.pytest_plugin.evidence import Disarm, Ending, Evidence
from affidavit.pytest_plugin.lines import Lines

LEAST_SECONDS = 0.5
TIMES = 10
"""A disarmed test may take ten times as long as it took before, and half a second at least; then it hangs."""


class Tripped(BaseException):
    """The tripwire; no Exception, so that no handler of the program's own takes it for its business."""


def ask(evidence: Evidence, items: Sequence[Any], alone: Alone, *, seconds: float, root: Path) -> Evidence:
    """Return the evidence with all that its test's items, one for each parameter, said of its function."""
    began = time.perf_counter()
    try:
        subject = Subject(resolve(evidence.target))
    except TargetError as error:
        return replace(evidence, error=str(error), is_declared_wrong=True)
    digests = {"function": subject.digest, "test": _digest(items[0])}
    evidence = replace(evidence, digests=digests)
    try:
        evidence = _Ask(subject, alone, seconds, root).of(evidence, items)
    except RestoreError as error:
        evidence = replace(evidence, error=str(error))
    finally:
        alone.finish(items[0].session)
    return replace(evidence, seconds=time.perf_counter() - began)


class _Ask:
    def __init__(self, subject: Subject, alone: Alone, seconds: float, root: Path) -> None:
        self.subject, self.alone, self.seconds, self.root = subject, alone, seconds, root
        self.whole = False
        self.ran: set[int] = set()

    def of(self, evidence: Evidence, items: Sequence[Any]) -> Evidence:
        until = time.perf_counter() + self.seconds
        limits: dict[Any, float] = {}
        for item in items:
            began = time.perf_counter()
            if self.alone.run(item, 0.0) is not Ending.PASSED:
                return replace(evidence, error=f"it passed in the suite and not by itself ({self.alone.said})")
            limits[item] = max(LEAST_SECONDS, TIMES * (time.perf_counter() - began))
        reached = self._reached(items, limits)
        if not reached:
            return evidence
        self.ran = self._lines(reached)
        disarms: list[Disarm] = []
        unasked = 0
        for mutant in self.subject.mutants():
            if time.perf_counter() > until:
                unasked += 1
            else:
                disarms.append(self._disarmed(mutant, reached, limits))
        for item in reached:
            if self.alone.run(item, 0.0, whole=self.whole) is not Ending.PASSED:
                return replace(evidence, error=f"a disarm left something behind: it fails now ({self.alone.said})")
        return replace(evidence, is_reached=True, disarms=tuple(disarms), unasked=unasked)

    def _reached(self, items: Sequence[Any], limits: dict[Any, float]) -> list[Any]:
        """Return the items that step on the tripwire; those whose shared fixtures do are set up as a whole later."""
        for whole in (False, True):
            self.whole = whole
            reached: list[Any] = []
            for item in items:
                stepped: list[bool] = []

                def step(stepped: list[bool] = stepped) -> Tripped:
                    stepped.append(True)
                    return Tripped("here stands the tripwire")

                with armed(self.subject.target, self.subject.tripwire(step)):
                    self.alone.run(item, limits[item], whole=whole)
                reached += [item] if stepped else []
            if reached:
                return reached
        return []

    def _lines(self, items: Sequence[Any]) -> set[int]:
        """Return the lines of the function that the test runs, in this thread; none where nobody could look."""
        lines, code = Lines(), self.subject.target.function.__code__
        try:
            for item in items:
                with lines.of(code):
                    self.alone.run(item, 0.0, whole=self.whole)
        finally:
            lines.close()
        return lines.ran.get(code, set())

    def _disarmed(self, mutant: Mutant, items: Sequence[Any], limits: dict[Any, float]) -> Disarm:
        ending = Ending.PASSED
        with armed(self.subject.target, mutant):
            for item in items:
                found = self.alone.run(item, limits[item], code=mutant.code, whole=self.whole)
                ending = max(ending, found, key=list(Ending).index)
                if ending is Ending.ASSERTED:
                    break
        file = Path(self.subject.file)
        shown = file.relative_to(self.root) if file.is_relative_to(self.root) else file
        text = "" if ending.is_caught else linecache.getline(self.subject.file, mutant.line).strip()
        return Disarm(
            at=f"{shown}:{mutant.line}",
            operator=mutant.operator,
            was=mutant.was,
            becomes=mutant.becomes,
            text=text,
            ending=ending,
            is_run=ending.is_caught or not self.ran or self.subject.runs_with(mutant.line) in self.ran,
        )


def _digest(item: Any) -> str:
    """Return the SHA-256 of the test's own source; what it calls, and its fixtures, are not in it."""
    try:
        source = textwrap.dedent(inspect.getsource(inspect.unwrap(item.function)))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(source.encode()).hexdigest()
