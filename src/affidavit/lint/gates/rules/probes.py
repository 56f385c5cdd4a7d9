"""Probes for a process that find themselves: it depends on how the shell was started, and that is asked here.

The command line of ``bash -c TEXT`` holds the text, that of ``bash FILE`` holds the file's name and its arguments. A
bash that has nothing left to do becomes the probe, which leaves itself out; a redirection keeps it from that, and dash
never does it.

Source: measured with bash 5.2, dash 0.5.12, procps 4.0; the tests run each form for a name that cannot exist.
Blind to: patterns that a variable brings from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from affidavit.lint.gates.fate import Fate, lot
from affidavit.lint.gates.rule import ALARM, Hit, Rule
from affidavit.lint.gates.source import Source, Started
from affidavit.lint.gates.step import Step

_FULL = re.compile(r"-[a-zA-Z]*f[a-zA-Z]*$|--full$")
_NARROW = re.compile(r"-[a-zA-Z]*P$|--(parent|pidfile)\b|-F$")
_EXACT = re.compile(r"-[a-zA-Z]*x[a-zA-Z]*$|--exact$")
_VALUED = frozenset({"-u", "-U", "-g", "-G", "-s", "-t", "-d", "-r", "--signal", "--uid", "--delimiter", "--session"})
_ARGUMENT = re.compile(r"^\$(?:\{)?(?:[1-9@*]|\w+)(?::-[^}]*)?\}?$")
_POSITIONAL = r"^\s*(?:local\s+|readonly\s+|declare\s+)?{name}=[\"']?\$\{{?[1-9@*]"


def _self_matching(source: Source) -> Iterator[Hit]:
    for step in source.commands("pgrep", "pkill"):
        pattern = _pattern_of(step)
        if pattern:
            yield from _by_pattern(source, step, pattern)
    for step in source.steps:
        if step.kind == "pipeline":
            yield from _by_list(source, step)


def _pattern_of(step: Step) -> str:
    words = list(step.words[1:])
    if not any(_FULL.match(word) for word in words) or any(_NARROW.match(word) for word in words):
        return ""
    pattern, skip = "", False
    for word in words:
        if skip:
            skip = False
        elif word == "--":
            continue
        elif word.startswith("-"):
            skip = word in _VALUED
        else:
            pattern = word
    return pattern


def _by_pattern(source: Source, step: Step, pattern: str) -> Iterator[Hit]:
    if source.started is Started.FILE:
        why = _in_command_line(source, step, pattern)
        if why:
            yield _hit(source, step, why)
        return
    text = f"{source.started.value} {source.text}"
    found = _finds(pattern, text, is_exact=any(_EXACT.match(word) for word in step.words[1:]))
    if not found or (source.started is Started.BASH and _becomes(step)):
        return
    is_alone = _becomes(step)
    is_kill = step.words[0].endswith("pkill")
    how = "the shell that runs this line holds the pattern in its own command line"
    said = f"It finds itself ({how}), so " + ("it ends its own shell." if is_kill else "it never says dead.")
    yield _hit(source, step, said, is_sure=not is_alone and not is_kill)


def _becomes(step: Step) -> bool:
    """Whether the shell becomes this command: it is the last, and nothing about it needs a shell any more."""
    parent = step.parent
    if parent is None or re.search(r"[<>]", step.text):
        return False
    while parent is not None and parent.kind in ("and", "or") and parent.parts[-1] is step:
        step, parent = parent, parent.parent
    return parent is not None and parent.kind == "script" and parent.parts[-1] is step and not step.is_background


def _in_command_line(source: Source, step: Step, pattern: str) -> str:
    """Return what of ``bash FILE ARGUMENTS`` the pattern finds, "" where nothing of it is known to be found."""
    if step.is_background:
        return ""
    if _ARGUMENT.match(pattern):
        name = pattern.strip("${}").partition(":")[0]
        is_given = name in "123456789@*" and step.function is None
        is_kept = name.isidentifier() and re.search(_POSITIONAL.format(name=re.escape(name)), source.text, re.M)
        if (is_given or is_kept) and not _is_in_function_argument(source, step, name):
            return "The pattern is an argument of this script, so it stands in the script's own command line"
        return ""
    if "$" in pattern:
        return ""
    if _finds(pattern, f"bash {source.path.name}"):
        return f"The name of this script, {source.path.name}, holds the pattern"
    return next((f'It is called with the pattern ("{one}")' for one in source.called_with if _finds(pattern, one)), "")


def _is_in_function_argument(source: Source, step: Step, name: str) -> bool:
    """Whether ``$1`` is that of a function, which no command line shows."""
    for function in source.functions.values():
        if any(
            one.kind in ("assign", "declare") and re.match(rf"(\w+\s+)?{name}=", one.text) for one in function.walk()
        ):
            return True
    return step.function is not None and name in "123456789@*"


def _by_list(source: Source, step: Step) -> Iterator[Hit]:
    """Yield ``ps | grep WORD`` where its answer decides something: grep stands in the list that it searches."""
    if not step.parts or step.parts[0].words[:1] != ("ps",):
        return
    if re.search(
        r"(?:^|\s)-\w*[pC]\b|--pid|--ppid|(?:-o|--format)\s*(?:pid|comm|ucomm|state|stat|%cpu)[= ,]*(?:\s|$)",
        step.parts[0].text,
    ):
        return
    greps = [part for part in step.parts[1:] if part.words[:1] in (("grep",), ("egrep",), ("fgrep",))]
    if not greps or any(re.search(r"\s-\w*v", part.text) for part in greps):
        return
    pattern = next((word for word in greps[0].words[1:] if not word.startswith("-")), "")
    if not pattern or "$" in pattern or not _finds(pattern, greps[0].text.replace('"', "").replace("'", "")):
        return
    if any(part.words[:1] in (("awk",), ("xargs",), ("kill",), ("sed",)) for part in step.parts):
        return
    decides = lot(step).fate in (Fate.CONDITION, Fate.READ, Fate.AND) or any(
        parent.kind in ("and", "or", "test") for parent in step.above()
    )
    if decides:
        yield _hit(source, step, "grep stands in the list of processes that it searches, so it finds itself.")


def _finds(pattern: str, text: str, *, is_exact: bool = False) -> bool:
    pattern = re.sub(r"\[\[:(\w+):\]\]", ".", pattern)
    try:
        found = re.fullmatch(pattern, text) if is_exact else re.search(pattern, text)
    except (re.error, RecursionError, OverflowError):
        return pattern in text
    return found is not None


def _hit(source: Source, step: Step, said: str, *, is_sure: bool = True) -> Hit:
    said = said if said.endswith(".") else f"{said}: it finds itself and never says dead."
    return Hit(line=source.line_of(step), text=" ".join(step.text.split())[:120], said=said, is_sure=is_sure)


RULES = (
    Rule(
        id="self-matching-probe",
        section=ALARM,
        wrong="This probe finds its own command line, so it says alive of what does not exist.",
        right='pid and start time ("affidavit watch"), or a pattern that does not match itself: "[t]rain.py".',
        bad='ssh gpu1 "pgrep -f train.py > /dev/null" && echo alive\n',
        good='ssh gpu1 "pgrep -f [t]rain.py > /dev/null" && echo alive\n',
        find=_self_matching,
    ),
)
