"""Shell text of a project, wherever it stands, and how its shell is started: on that much depends what it does."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path

from affidavit.lint.gates.build import build
from affidavit.lint.gates.known import is_gate, is_training
from affidavit.lint.gates.step import Step

_VARIABLE = re.compile(r"\$\{?(\w+|\?)")


class Started(Enum):
    """How a text reaches its shell.

    FILE: the shell is given a file, and its command line does not hold the text. BASH and SH: the text is an argument,
    ``bash -c`` or ``sh -c``; so it is with ssh, cron, RUN and a string of Python.
    """

    FILE = "a script file"
    BASH = "bash -c"
    SH = "sh -c"


class Ignored(Enum):
    """Who throws away the exit code of a whole text."""

    NOBODY = ""
    WORKFLOW = "continue-on-error"
    MAKE = "make"
    PYTHON = "python"


@dataclass(kw_only=True)
class Source:
    """One text that a shell reads.

    Args:
        first: the line of the file before its first one.
        where: what kind of place it is: script, workflow, make, docker, health, cron, python, inner.
        called_with: words that some other line hands to this file, each as one text.
        ignored: who throws away how it ends.
    """

    path: Path
    text: str
    first: int = 0
    where: str = "script"
    started: Started = Started.FILE
    errexit: bool = False
    pipefail: bool = False
    ignored: Ignored = Ignored.NOBODY
    called_with: list[str] = field(default_factory=list)

    @cached_property
    def script(self) -> Step:
        return build(self.text, errexit=self.errexit, pipefail=self.pipefail)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self.script.walk())

    @cached_property
    def functions(self) -> dict[str, Step]:
        return {step.name: step for step in self.steps if step.kind == "function"}

    @cached_property
    def gates(self) -> tuple[Step, ...]:
        """Return the commands that judge, but for those whose output is what is asked for."""
        names = frozenset(self.functions)
        return tuple(
            step for step in self.steps if step.kind == "command" and step.words and is_gate(step.words, names)
        )

    @cached_property
    def trainings(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.kind == "command" and is_training(step.words))

    @cached_property
    def last_training(self) -> int:
        """Return the line of the last training, 0 where there is none."""
        return max((step.line for step in self.trainings), default=0)

    @cached_property
    def last_gates(self) -> dict[tuple[str, ...], int]:
        """Return on which line each gate stands last, by its words."""
        return {gate.words: gate.line for gate in self.gates}

    @cached_property
    def reads_pipe_status(self) -> bool:
        return "PIPESTATUS" in self.text

    @cached_property
    def _named(self) -> dict[str, list[Step]]:
        named: dict[str, list[Step]] = {}
        for step in self.steps:
            if step.kind == "command" and step.words:
                named.setdefault(step.words[0].rpartition("/")[2], []).append(step)
        return named

    @cached_property
    def readers(self) -> dict[str, list[Step]]:
        """Return the commands, tests and cases that read a variable, by its name; that of an exit code is "?"."""
        found: dict[str, list[Step]] = {}
        for step in self.steps:
            if step.kind in ("test", "command", "case"):
                for name in dict.fromkeys(_VARIABLE.findall(step.text)):
                    found.setdefault(name, []).append(step)
        return found

    @cached_property
    def _ends(self) -> dict[Step, tuple[int, int]]:
        """Return of each step its place in the order of the text, and the place behind all that is within it."""
        places = {step: at for at, step in enumerate(self.steps)}
        ends: dict[Step, tuple[int, int]] = {}
        for step in reversed(self.steps):
            ends[step] = (places[step], ends[step.parts[-1]][1] if step.parts else places[step] + 1)
        return ends

    @cached_property
    def _training_places(self) -> tuple[int, ...]:
        return tuple(self._ends[step][0] for step in self.trainings)

    def trains_after(self, step: Step) -> bool:
        """Whether a training stands after a step in its own sequence, however deep."""
        if step.parent is None:
            return False
        at = bisect_left(self._training_places, self._ends[step][1])
        return at < bisect_left(self._training_places, self._ends[step.parent][1])

    def commands(self, *names: str) -> Sequence[Step]:
        """Return the commands of these names, in the order of the text."""
        found = [step for name in names for step in self._named.get(name, ())]
        return found if len(names) == 1 else sorted(found, key=lambda step: self._ends[step])

    def between(self, first: int, last: int) -> Iterator[Step]:
        """Yield the steps of some lines, both ends among them."""
        start, stop = bisect_left(self._lines, first), bisect_right(self._lines, last)
        return (self.steps[at] for at in range(start, stop))

    @cached_property
    def _lines(self) -> tuple[int, ...]:
        return tuple(step.line for step in self.steps)

    def line_of(self, step: Step) -> int:
        return self.first + step.line
