"""Gates whose exit code is lost where it is made: in a pipe, behind ||, in a declaration, with set -e off."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from affidavit.lint.gates.fate import Fate, is_conditional_call, lot, says, tells
from affidavit.lint.gates.known import FILTERS, is_runner, is_training, says_must
from affidavit.lint.gates.rule import ALARM, GATE, Hit, Rule
from affidavit.lint.gates.source import Source
from affidavit.lint.gates.step import SEQUENCES, Step

_HANDED_ON = re.compile(r"GITHUB_(?:STEP_SUMMARY|ENV|OUTPUT)\b")
_NO_TEST = re.compile(r"(?:-eq|==?)\s*\"?5\b")


def _sure(source: Source, gate: Step) -> bool:
    """Whether it is a gate beyond doubt: a known runner, or one that must hold and that a training follows."""
    return is_runner(gate.words) or (says_must(gate.words) and _training_follows(source, gate))


def _training_follows(source: Source, gate: Step) -> bool:
    return source.last_training > gate.line


def _trains(step: Step) -> bool:
    return is_training(step.words)


def _hit(source: Source, gate: Step, at: Step, said: str = "", *, is_sure: bool | None = None) -> Hit:
    sure = _sure(source, gate) if is_sure is None else is_sure
    return Hit(line=source.line_of(gate), text=_short(at.text), said=said, is_sure=sure)


def _short(text: str) -> str:
    return " ".join(text.replace("\\\n", " ").split())[:120]


def _in_pipe(source: Source, steps: tuple[Step, ...]) -> Iterator[tuple[Step, Step]]:
    for step in steps:
        found = lot(step)
        if found.fate is Fate.PIPE and not step.is_in_substitution and not _is_read(source, found.at):
            last = found.at.parts[-1]
            fate = lot(found.at).fate
            if fate is Fate.BACKGROUND or (fate is Fate.UNSURE and not _training_follows(source, step)):
                continue
            if fate is Fate.UNREAD and not (_trains(step) or source.trains_after(found.at)):
                continue
            if last.kind == "command" and last.words and last.words[0].rpartition("/")[2] in FILTERS:
                yield step, found.at


def _is_read(source: Source, pipeline: Step) -> bool:
    """Whether the output is the answer, or PIPESTATUS is looked at."""
    after = pipeline.next
    if (after is not None and "PIPESTATUS" in after.text) or source.reads_pipe_status:
        return True
    last = pipeline.parts[-1]
    name = last.words[0] if last.words else ""
    return name in ("grep", "egrep") and lot(pipeline).fate in (Fate.CONDITION, Fate.READ)


def _pipe(source: Source) -> Iterator[Hit]:
    for gate, at in _in_pipe(source, source.gates):
        yield _hit(source, gate, at)


def _training_pipe(source: Source) -> Iterator[Hit]:
    for step, at in _in_pipe(source, source.trainings):
        is_sure = lot(at).fate is Fate.STOPS or (at.next is not None and at.next.reads_status)
        yield _hit(source, step, at, is_sure=is_sure)


def _or_true(source: Source) -> Iterator[Hit]:
    for gate in source.gates:
        found = lot(gate)
        # pre-commit mends what it can and then says no; what goes to the summary of a job is a report,
        # and what goes to its outputs a later step reads.
        is_other = "pre-commit" in " ".join(gate.words) or bool(_HANDED_ON.search(found.at.text))
        if found.fate is not Fate.OR or is_other or _is_run_again(source, gate):
            continue
        if not gate.is_in_substitution:
            yield _hit(source, gate, found.at, is_sure=False if tells(found.at.parts[1]) else None)
        elif _training_follows(source, gate) and _is_only_said(source, gate):
            yield _hit(source, gate, found.at, is_sure=False)


def _is_only_said(source: Source, gate: Step) -> bool:
    """Whether what a gate prints is kept in a variable that is at most printed again."""
    name = next((parent.name for parent in gate.above() if parent.kind == "assign"), "")
    read = (step for step in source.readers.get(name, ()) if says(step))
    said = [step for step in read if step.parent is not None and step.parent.kind in SEQUENCES]
    used = re.compile(rf"\$\{{?{re.escape(name)}\b")
    return bool(name) and len(used.findall(source.text)) == sum(len(used.findall(step.text)) for step in said)


def _is_run_again(source: Source, gate: Step) -> bool:
    """Whether the same gate stands again, where its code counts: fix first, judge afterwards."""
    return source.last_gates[gate.words] > gate.line


def _no_test(source: Source) -> Iterator[Hit]:
    for gate in source.gates:
        for parent in gate.above():
            if parent.kind == "or" and any(part is gate or gate in part.walk() for part in parent.parts[:1]):
                right = parent.parts[1]
                if "pytest" in " ".join(gate.words) and right.reads_status and _NO_TEST.search(right.text):
                    yield _hit(source, gate, parent)


def _set_e_off(source: Source) -> Iterator[Hit]:
    told = source.commands("set")
    lines = [step.line for step in told]
    for gate in source.gates:
        found = lot(gate)
        if found.fate is Fate.READ and found.at.kind == "not" and source.trains_after(found.at):
            yield _hit(source, gate, found.at, "set -e never stops at !, and the training starts all the same.")
        if found.fate is not Fate.UNREAD or gate.errexit is not False:
            continue
        before, after = told[: bisect_left(lines, gate.line)][-1:], told[bisect_right(lines, gate.line) :][:1]
        following = found.at.following
        if len(following) == 1 and following[0].text.strip() in ("true", ":", "exit 0"):
            yield _hit(
                source, gate, gate, f"The script ends with {following[0].text.strip()}, whatever this gate says."
            )
        elif source.where in ("make", "docker") and all(map(says, following)):
            said = f"What ends this line is {following[-1].words[0]}, whatever this gate says."
            yield _hit(source, gate, gate, said)
        elif before and after and before[-1].words[1:2] == ("+e",):
            if not any(step.reads_status for step in source.between(gate.line, after[0].line)):
                yield _hit(source, gate, gate)
        elif gate.function is None and source.trains_after(found.at):
            is_read = any(step.reads_status for step in following[:2])
            if not is_read:
                said = "Nobody reads the exit code of this gate, and the training starts all the same."
                yield _hit(source, gate, gate, said)


def _declared(source: Source) -> Iterator[Hit]:
    for gate in source.gates:
        found = lot(gate)
        if found.fate is Fate.DECLARED:
            yield _hit(source, gate, found.at)


def _off_inside(source: Source) -> Iterator[Hit]:
    told: set[str] = set()
    for gate in source.gates:
        function, found = gate.function, lot(gate)
        if found.fate is Fate.SUPPRESSED:
            yield _hit(source, gate, found.at)
        if function is None or function.name in told or found.fate is not Fate.STOPS:
            continue
        for call in source.commands(function.name):
            holder = is_conditional_call(call)
            if holder is not None and call.errexit:
                told.add(function.name)
                said = f"In a function that a condition calls (line {source.line_of(call)}) set -e is off: it goes on."
                yield _hit(source, gate, gate, said, is_sure=True)
                break


def _and_list(source: Source) -> Iterator[Hit]:
    for gate in source.gates:
        found = lot(gate)
        if found.fate is Fate.AND and not gate.is_in_substitution:
            right = found.at.parts[-1]
            if right.kind == "command" and right.words[:1] in (("echo",), ("printf",), ("log",), (":",)):
                yield _hit(source, gate, found.at)


RULES = (
    Rule(
        id="status-lost-in-pipe",
        section=GATE,
        wrong="A pipeline has the exit code of its last command, so this gate passes whatever it says.",
        right="set -o pipefail before it; in a workflow, shell: bash.",
        bad="set -e\npytest | tee test.log\n",
        good="set -eo pipefail\npytest | tee test.log\n",
        find=_pipe,
    ),
    Rule(
        id="training-lost-in-pipe",
        section=ALARM,
        wrong="The pipeline ends with the exit code of its last command: a training that dies reads as finished.",
        right="set -o pipefail, or read ${PIPESTATUS[0]}.",
        bad="set -e\npython train.py | tee train.log\necho FINISHED\n",
        good="set -eo pipefail\npython train.py | tee train.log\necho FINISHED\n",
        find=_training_pipe,
    ),
    Rule(
        id="status-or-true",
        section=GATE,
        wrong="What stands behind || turns every no of this gate into a yes.",
        right="let it fail, or || exit 1.",
        bad="set -e\npytest || true\npython train.py\n",
        good="set -e\npytest || exit 1\npython train.py\n",
        find=_or_true,
    ),
    Rule(
        id="no-test-is-fine",
        section=GATE,
        wrong="Exit code 5 is that no test ran: a gate of which nothing is left passes.",
        right="let exit code 5 fail, and name the test that must run.",
        bad="pytest -k guard tests/ || [ $? -eq 5 ]\n",
        good="pytest -k guard tests/\n",
        find=_no_test,
    ),
    Rule(
        id="status-unread",
        section=GATE,
        wrong="set -e is off here and nobody reads the exit code of this gate.",
        right="set -e in front, or gate || exit 1.",
        bad="set +e\npytest\nset -e\npython train.py\n",
        good="set +e\npytest\nrc=$?\nset -e\n[ $rc -eq 0 ] || exit 1\npython train.py\n",
        find=_set_e_off,
    ),
    Rule(
        id="status-masked-by-declaration",
        section=GATE,
        wrong="The exit code is that of the declaration, which is 0, and not that of the gate within.",
        right="declare first, assign on a line of its own.",
        bad="set -e\nrun() {\n  local out=$(python preflight.py)\n}\nrun\npython train.py\n",
        good="set -e\nrun() {\n  local out\n  out=$(python preflight.py)\n}\nrun\npython train.py\n",
        find=_declared,
    ),
    Rule(
        id="errexit-off-inside",
        section=GATE,
        wrong="set -e is off inside of what a condition, && or || holds: only the last command of it counts.",
        right="join the gates with &&, or call the function on a line of its own.",
        bad="set -e\nall() {\n  python check_a.py\n  echo ok\n}\nif all; then python train.py; fi\n",
        good="set -e\nall() {\n  python check_a.py && python check_b.py\n}\nall && python train.py || exit 1\n",
        find=_off_inside,
    ),
    Rule(
        id="left-of-and",
        section=GATE,
        wrong="set -e does not stop at what stands on the left of &&: where the gate says no, the script goes on.",
        right="the gate on a line of its own, or gate || exit 1.",
        bad="set -e\npython gate.py && echo ok\npython train.py\n",
        good="set -e\npython gate.py\necho ok\npython train.py\n",
        find=_and_list,
    ),
)
