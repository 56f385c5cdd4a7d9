"""Alarms that look at the wrong thing: another process, a file that is merely there, a card, or that it is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from affidavit.lint.gates.known import FILTERS, is_training
from affidavit.lint.gates.rule import ALARM, Hit, Rule
from affidavit.lint.gates.source import Source
from affidavit.lint.gates.step import Step

_BEAT = re.compile(r"heart_?-?beat|\balive\b|watchdog|\.beat\b|liveness", re.I)
_PID_FILE = re.compile(r"\.pid\b|pid_?file", re.I)
_EXISTS = re.compile(r"^(?:\[\[?|test)\s+-[efs]\s+(?P<path>\S+|\"[^\"]+\")(?:\s+\]\]?)?$")
_AGE = re.compile(r"\bstat\b|\bdate\b|-mmin|-newer|-nt\b|mtime|SECONDS|\bage\b|-mtime", re.I)
_ALIVE = re.compile(r"\b(alive|running|healthy|is up|in progress)\b", re.I)
_DONE = re.compile(r"\b(finished|completed?|success\w*|done|ok)\b", re.I)


def _hit(source: Source, step: Step, *, is_sure: bool = True) -> Hit:
    text = " ".join(step.text.split())[:120]
    return Hit(line=source.line_of(step), text=text, is_sure=is_sure)


def _saves_pid(step: Step) -> bool:
    return step.kind in ("assign", "command", "declare") and "$!" in step.text


def _pid_of_pipeline(source: Source) -> Iterator[Hit]:
    for step in source.steps:
        if step.kind != "pipeline" or not step.is_background or len(step.parts) < 2:
            continue
        after, last = step.next, step.parts[-1]
        is_filter = bool(last.words) and last.words[0].rpartition("/")[2] in FILTERS
        if after is not None and is_filter and _saves_pid(after):
            name = after.name if after.kind == "assign" else ""
            watched = not name or re.search(rf"(?:kill|wait|ps|tail)\b[^\n]*\$\{{?{re.escape(name)}\b", source.text)
            if watched:
                yield _hit(source, step, is_sure=any(is_training(part.words) for part in step.parts) or bool(name))


def _heartbeat(source: Source) -> Iterator[Hit]:
    for step in source.steps:
        found = _EXISTS.match(step.text.strip()) if step.kind in ("test", "command") else None
        holder = _holder(step)
        if found is None or holder is None:
            continue
        text = holder.text
        is_beat, is_pid = _BEAT.search(found["path"]), _PID_FILE.search(found["path"])
        if is_beat and not _AGE.search(source.text):
            yield _hit(source, step, is_sure=bool(_ALIVE.search(text)))
        elif is_pid and _ALIVE.search(text) and not re.search(r"kill|ps\b|/proc|pgrep", text):
            yield _hit(source, step)


def _holder(step: Step) -> Step | None:
    """Return the if or the list that asks this."""
    for parent in step.above():
        if parent.kind in ("if", "and", "or"):
            return parent
        if parent.kind in ("function", "script", "substitution"):
            return None
    return None


def _gpu(source: Source) -> Iterator[Hit]:
    for step in source.commands("nvidia-smi"):
        holder = _holder(step)
        if holder is None or len(step.words) > 1 or step.is_in_substitution:
            continue
        if any(parent.kind == "pipeline" for parent in step.above()):
            continue
        if re.search(r"\b(alive|training|train(?:er)? is|job is|still running)\b", holder.text, re.I):
            yield _hit(source, step)


def _gone(source: Source) -> Iterator[Hit]:
    for step in source.steps:
        if step.kind != "loop" or step.name != "while":
            continue
        condition = next((part for part in step.parts if part.role == "condition"), None)
        if condition is None or not re.search(r"\bkill\s+-0\b|\bpgrep\b|/proc/", condition.text):
            continue
        after = step.next
        if after is None or after.kind != "command" or after.words[:1] not in (("echo",), ("printf",)):
            continue
        if _DONE.search(after.text) and not re.search(r"\bwait\s+\"?\$|PIPESTATUS|exit_?code|\brc\b", source.text):
            yield Hit(line=source.line_of(after), text=" ".join(after.text.split())[:120])


RULES = (
    Rule(
        id="pid-of-pipeline",
        section=ALARM,
        wrong="$! of a pipeline is the pid of its last command: what is watched is not the training.",
        right="python train.py > train.log 2>&1 & pid=$!, and tail -f for who wants to look.",
        bad='python train.py | tee all.log &\nPID=$!\nwhile kill -0 "$PID"; do sleep 60; done\n',
        good='python train.py > all.log 2>&1 &\nPID=$!\nwhile kill -0 "$PID"; do sleep 60; done\n',
        find=_pid_of_pipeline,
    ),
    Rule(
        id="heartbeat-exists",
        section=ALARM,
        wrong="The file stays when its writer dies: that it is there says nothing, only its age does.",
        right='[ $(( $(date +%s) - $(stat -c %Y heartbeat) )) -lt 120 ], or "affidavit watch".',
        bad="if [ -f heartbeat.txt ]; then echo alive; else echo dead; fi\n",
        good='age=$(( $(date +%s) - $(stat -c %Y heartbeat.txt) ))\nif [ "$age" -lt 120 ]; then echo alive; fi\n',
        find=_heartbeat,
    ),
    Rule(
        id="gpu-as-liveness",
        section=ALARM,
        wrong="nvidia-smi ends well wherever there is a card: it says nothing of a training.",
        right='a step counter ("affidavit watch"), or nvidia-smi --query-compute-apps=pid held against its pid.',
        bad='if nvidia-smi > /dev/null; then echo "training alive"; fi\n',
        good='if affidavit watch "$RUN"; then echo "training alive"; fi\n',
        find=_gpu,
    ),
    Rule(
        id="gone-is-finished",
        section=ALARM,
        wrong="That the process is gone is read as success: one that crashed is gone as well.",
        right='wait "$pid"; rc=$?, and say finished only where rc is 0.',
        bad='python train.py &\nPID=$!\nwhile kill -0 "$PID"; do sleep 60; done\necho "train finished OK"\n',
        good='python train.py &\nPID=$!\nwait "$PID" && echo "train finished OK"\n',
        find=_gone,
    ),
)
