"""Gates whose no is thrown away by what starts them: a workflow, make, a HEALTHCHECK, Python."""

from __future__ import annotations

import re
from collections.abc import Iterator

from affidavit.lint.gates.known import is_gate, is_runner, is_training
from affidavit.lint.gates.rule import ALARM, GATE, Hit, Rule
from affidavit.lint.gates.source import Ignored, Source

_HEALTHY = re.compile(r"(?:\|\|\s*(?:true|:|exit\s+0|echo\b[^|&;]*)|;\s*(?:true|exit\s+0))\s*$")
_OPTIMISED = re.compile(r"(?:^|\s)python[\d.]*\s+(?:-\w+\s+)*-(?:O|OO)\s")


def _ignored(source: Source, how: Ignored) -> Iterator[Hit]:
    if source.ignored is how:
        for gate in source.gates:
            text = " ".join(gate.text.split())[:120]
            yield Hit(
                line=source.line_of(gate), text=text, is_sure=how is not Ignored.WORKFLOW and is_runner(gate.words)
            )


def _workflow(source: Source) -> Iterator[Hit]:
    return _ignored(source, Ignored.WORKFLOW)


def _make(source: Source) -> Iterator[Hit]:
    return _ignored(source, Ignored.MAKE)


def _python(source: Source) -> Iterator[Hit]:
    return _ignored(source, Ignored.PYTHON)


def _health(source: Source) -> Iterator[Hit]:
    if source.where == "health" and (
        _HEALTHY.search(source.text.strip()) or source.text.split()[:1] in (["true"], ["echo"])
    ):
        yield Hit(line=source.first + 1, text=" ".join(source.text.split())[:120])


def _optimised(source: Source) -> Iterator[Hit]:
    for step in source.steps:
        if step.kind == "command" and _OPTIMISED.search(step.text) and (is_gate(step.words) or is_training(step.words)):
            yield Hit(line=source.line_of(step), text=" ".join(step.text.split())[:120], is_sure=is_gate(step.words))


RULES = (
    Rule(
        id="continue-on-error",
        section=GATE,
        wrong="The workflow goes on, and is green, whatever this gate says.",
        right="leave continue-on-error and allow_failure to steps that judge nothing.",
        bad="jobs:\n  a:\n    steps:\n      - run: pytest\n        continue-on-error: true\n",
        good="jobs:\n  a:\n    steps:\n      - run: pytest\n",
        find=_workflow,
    ),
    Rule(
        id="make-ignores",
        section=GATE,
        wrong="make ignores the exit code of this gate (a leading -, or .IGNORE).",
        right="leave the - to rm and mkdir.",
        bad="test:\n\t-pytest\n",
        good="test:\n\tpytest\n",
        find=_make,
    ),
    Rule(
        id="python-unread",
        section=GATE,
        wrong="Python goes on whatever this gate says: nobody looks at what the call returns.",
        right="check=True, or subprocess.check_call.",
        bad='import subprocess\n\nsubprocess.run(["pytest", "tests"])\n',
        good='import subprocess\n\nsubprocess.run(["pytest", "tests"], check=True)\n',
        find=_python,
    ),
    Rule(
        id="healthcheck-cannot-fail",
        section=ALARM,
        wrong="This HEALTHCHECK ends with 0 whatever it finds, so the container is always healthy.",
        right="|| exit 1.",
        bad="FROM debian\nHEALTHCHECK CMD curl -f http://localhost:8000/health || exit 0\n",
        good="FROM debian\nHEALTHCHECK CMD curl -f http://localhost:8000/health || exit 1\n",
        find=_health,
    ),
    Rule(
        id="assert-optimised-away",
        section=GATE,
        wrong="python -O leaves out every assert, so what was to stop the script is not there.",
        right="start it without -O, or raise in place of assert.",
        bad="python -O check_config.py\n",
        good="python check_config.py\n",
        find=_optimised,
    ),
)
