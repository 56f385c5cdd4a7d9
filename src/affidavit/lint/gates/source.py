"""Shell text of a project, wherever it stands, and how its shell is started: on that much depends what it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path

from affidavit.lint.gates.build import build
from affidavit.lint.gates.known import is_gate
from affidavit.lint.gates.step import Step


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

    def commands(self, *names: str) -> Iterator[Step]:
        """Yield the commands of these names."""
        for step in self.steps:
            if step.kind == "command" and step.words and step.words[0].rpartition("/")[2] in names:
                yield step

    def line_of(self, step: Step) -> int:
        return self.first + step.line
