"""Gates that are asked and answered wrongly: another code is read, the test is always true, the answer is lost."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from affidavit.lint.gates.fate import Fate, lot, says
from affidavit.lint.gates.known import is_runner, is_training, says_must
from affidavit.lint.gates.rule import GATE, Hit, Rule
from affidavit.lint.gates.source import Source
from affidavit.lint.gates.step import Step

_STOPS = re.compile(r"\b(exit|return|false|kill|die|fail\w*|error\w*|abort\w*|break|continue|exec)\b|=")
_GREATER = re.compile(r"(?<!\\)\s[<>]\s*-?\d+(?:\.\d+)?\s*$")
_UNQUOTED = re.compile(r"^\[\s+-n\s+(\$\w+|\$\{\w+\}|\$\([^()\"]*\))\s+\]$")
_COUNTED = re.compile(r"(?:^|\s)(?:-\w*c\w*|--count)(?:\s|$)")
_DIFF = re.compile(r"git\s+(?:-C\s+\S+\s+)?diff\b(?P<rest>[^)|;&]*)")

_NARROWED = re.compile(r"--cached|--staged|\bHEAD\b|\.\.|--name-only|--\s|origin|\$|\w/\w|main|master")
_COMMITS = re.compile(r"\bgit\s+(?:-C\s+\S+\s+)?(?:commit|stash|push)\b")
_OTHERWISE = re.compile(r"git (?:-C \S+ )?(?:status|ls-files|diff-index|add|update-index)|--cached|--staged")
"""What else sees the tree of a script that also asks git diff."""


def _hit(source: Source, step: Step, said: str = "", *, is_sure: bool = True) -> Hit:
    text = " ".join(step.text.replace("\\\n", " ").split())[:120]
    return Hit(line=source.line_of(step), text=text, said=said, is_sure=is_sure)


def _of_echo(source: Source) -> Iterator[Hit]:
    for gate in source.gates:
        after = gate.next
        if after is None or after.kind != "command" or after.words[:1] not in (("echo",), ("printf",)):
            continue
        third = after.next
        if third is None or after.reads_status or not third.reads_status or gate.errexit:
            continue
        condition = next((part for part in third.parts if part.role == "condition"), third)
        if re.search(r"\$\?", condition.text):
            yield _hit(source, third)


def _count_of_count(source: Source) -> Iterator[Hit]:
    for step in source.steps:
        if step.kind != "pipeline" or len(step.parts) < 2:
            continue
        counting, counted = step.parts[-2], step.parts[-1]
        if counted.words[:1] == ("wc",) and "-l" in counted.words and counting.words[:1] in (("grep",), ("egrep",)):
            files = [word for word in counting.words[1:] if not word.startswith("-")]
            is_many = any(re.search(r"[*?]|^\$@|^-r", word) for word in counting.words[1:]) or len(files) > 2
            options = " ".join(word for word in counting.words[1:] if word.startswith("-"))
            if _COUNTED.search(options) and not is_many and not re.search(r"-\w*r", options):
                yield _hit(source, step)


def _always_true(source: Source) -> Iterator[Hit]:
    for step in source.steps:
        if step.kind != "test" or step.text.startswith("[["):
            continue
        inside = step.text.removeprefix("[").removesuffix("]").strip()
        if _GREATER.search(inside) and "(" not in inside:
            yield _hit(source, step, "Inside of [ ] this is a redirection: a file is made and the test is always true.")
        elif _UNQUOTED.match(step.text.strip()):
            yield _hit(source, step, "Unquoted and empty nothing is left but -n, and [ -n ] is always true.")


def _git_diff(source: Source) -> Iterator[Hit]:
    if "diff" not in source.text or _OTHERWISE.search(source.text):
        return
    trains = bool(source.trainings)
    if not trains and not re.search(r"\b(clean|dirty|uncommitted)\b", source.text, re.I):
        return
    for step in source.steps:
        if step.kind == "test" and re.search(r"(?:^|\s)-[zn]\s|=", step.text):
            text = step.text
        elif step.kind == "command" and step.words[:2] == ("git", "diff"):
            if not {"--quiet", "--exit-code"}.intersection(step.words) or lot(step).fate is Fate.ARGUMENT:
                continue
            text = step.text
        else:
            continue
        found = _DIFF.search(text)
        if found is not None and not _NARROWED.search(found["rest"]) and not _is_answered(step):
            yield _hit(source, step, is_sure=trains)


def _is_answered(step: Step) -> bool:
    """Whether the list or the if that asks it commits, stashes or pushes: it asks for changes, and no gate asks."""
    return any(parent.kind in ("and", "or", "if") and _COMMITS.search(parent.text) for parent in step.above())


def _only_124(source: Source) -> Iterator[Hit]:
    for gate in source.gates:
        if gate.words[0].rpartition("/")[2] != "timeout":
            continue
        found = lot(gate)
        if found.fate is Fate.READ:
            asked = found.at if found.at.kind != "or" else found.at.parts[1]
            name = (
                asked.name if asked.kind == "assign" else next((p.name for p in asked.walk() if p.kind == "assign"), "")
            )
            readers = source.readers.get(name or "?", [])
            later = readers[bisect_left(readers, gate.line, key=lambda step: step.line) :]
            reads = [step.text for step in later if step.words[:1] not in (("echo",), ("printf",))]
            if reads and all("124" in text for text in reads):
                yield _hit(source, gate)


def _bare_wait(source: Source) -> Iterator[Hit]:
    for gate in source.gates:
        if lot(gate).fate is not Fate.BACKGROUND:
            continue
        waits = [wait for wait in source.commands("wait") if wait.line >= gate.line]
        if not waits and source.last_training > gate.line and "$!" not in source.text:
            said = "It runs in the background and nobody waits for it: the training starts whatever it says."
            yield _hit(source, gate, said, is_sure=is_runner(gate.words))
        elif waits and all(len(wait.words) == 1 for wait in waits) and "jobs -p" not in source.text:
            yield _hit(source, gate, is_sure=is_runner(gate.words))


def _trap(source: Source) -> Iterator[Hit]:
    if not source.gates:
        return
    for step in source.commands("trap"):
        if "EXIT" in step.words[2:] and re.search(r"\bexit\s+0\s*;?\s*$", step.words[1]):
            yield _hit(source, step)


def _without_else(source: Source) -> Iterator[Hit]:
    for gate in source.gates:
        found = lot(gate)
        if found.fate is not Fate.CONDITION or found.at.kind != "if" or gate.function is not None:
            continue
        whole = found.at
        body = next((part for part in whole.parts if part.role == "body"), None)
        others = [part for part in whole.parts if part.role == "else"]
        if body is None or not all(map(_only_says, others)):
            continue
        if any(one.kind == "not" for one in gate.above()):
            if others or not _only_says(body):
                continue
        elif any(map(_stops, body.walk())) or any(map(_trains, body.walk())):
            continue
        if source.trains_after(whole):
            yield _hit(source, gate, is_sure=says_must(gate.words))


def _only_says(body: Step) -> bool:
    return body.kind == "body" and bool(body.parts) and all(map(says, body.parts))


def _stops(step: Step) -> bool:
    is_leaf = step.kind in ("command", "assign", "declare", "test")
    return is_leaf and not says(step) and bool(_STOPS.search(step.text))


def _trains(step: Step) -> bool:
    return step.kind == "command" and is_training(step.words)


RULES = (
    Rule(
        id="status-of-echo",
        section=GATE,
        wrong="$? is the exit code of the echo before it, which is 0, and not that of the gate.",
        right="if ! gate; then exit 1; fi.",
        bad="python gate.py\necho done\nif [ $? -ne 0 ]; then exit 1; fi\n",
        good="python gate.py\nrc=$?\necho done\nif [ $rc -ne 0 ]; then exit 1; fi\n",
        find=_of_echo,
    ),
    Rule(
        id="count-of-count",
        section=GATE,
        wrong="grep -c prints one line, the count, so wc -l is 1 whatever was found.",
        right="n=$(grep -c PATTERN FILE).",
        bad='n=$(grep -c NaN train.log | wc -l)\n[ "$n" -ge 1 ] && echo checked\n',
        good='n=$(grep -c NaN train.log)\n[ "$n" -ge 1 ] && echo checked\n',
        find=_count_of_count,
    ),
    Rule(
        id="test-always-true",
        section=GATE,
        wrong="This test is true whatever the variable holds.",
        right='[ "$x" -gt 0 ], [ -n "$x" ].',
        bad='if [ "$LOSS" > 0 ]; then echo ok; fi\n[ -n $LOSS ] && echo there\n',
        good='if [ "$LOSS" -gt 0 ]; then echo ok; fi\n[ -n "$LOSS" ] && echo there\n',
        find=_always_true,
    ),
    Rule(
        id="git-diff-as-clean",
        section=GATE,
        wrong="git diff sees neither what is staged nor what is untracked: other code than that of the commit passes.",
        right='[ -z "$(git status --porcelain)" ].',
        bad='if [ -z "$(git diff --stat)" ]; then python train.py; else exit 1; fi\n',
        good='if [ -z "$(git status --porcelain)" ]; then python train.py; else exit 1; fi\n',
        find=_git_diff,
    ),
    Rule(
        id="timeout-only-124",
        section=GATE,
        wrong="Only 124, the code of timeout itself, is looked at: where the gate says no in time, it passes.",
        right="timeout 60 gate || exit 1.",
        bad="timeout 60 python check.py\nrc=$?\n[ $rc -eq 124 ] && exit 1\npython train.py\n",
        good="timeout 60 python check.py\nrc=$?\n[ $rc -eq 0 ] || exit 1\npython train.py\n",
        find=_only_124,
    ),
    Rule(
        id="wait-without-pid",
        section=GATE,
        wrong="wait without a pid has exit code 0, so the code of the gate in the background is lost.",
        right='pid=$!; wait "$pid" || exit 1.',
        bad="set -e\npytest tests/ &\nwait\npython train.py\n",
        good='set -e\npytest tests/ &\npid=$!\nwait "$pid"\npython train.py\n',
        find=_bare_wait,
    ),
    Rule(
        id="trap-exits-zero",
        section=GATE,
        wrong="The trap ends the script with 0, whatever it was about to end with.",
        right="leave the exit out of the trap: the code before it stays.",
        bad="set -e\ntrap 'rm -rf scratch; exit 0' EXIT\npytest\n",
        good="set -e\ntrap 'rm -rf scratch' EXIT\npytest\n",
        find=_trap,
    ),
    Rule(
        id="if-without-else",
        section=GATE,
        wrong="Where the gate says no nothing happens, and the training after it starts all the same.",
        right="gate || exit 1.",
        bad="if python preflight.py; then\n  echo ok\nfi\npython train.py\n",
        good="if ! python preflight.py; then\n  exit 1\nfi\npython train.py\n",
        find=_without_else,
    ),
)
