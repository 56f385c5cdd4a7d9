"""What becomes of an exit code: who reads it, or where it is lost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from affidavit.lint.gates.known import peel, told
from affidavit.lint.gates.step import SEQUENCES, Step

_SAYING: Final = frozenset({"true", ":", "echo", "printf", "warn", "log", "info"})
_REFUSES: Final = re.compile(
    r"\b(?:exit|return)\s+(?:[1-9]|\"?\$)|\bexit\s*(?:[;}\n]|$)|\bfalse\b|\bkill\b|\bdie\b|\bfail|\babort|="
)
_KEEPS: Final = re.compile(r">(?!\s*(?:&|/dev/|>))")
_TELLS: Final = re.compile(r"(?:^|[_-])(?:notify|slack|e?mail|alert)(?:[_.-]|$)")


class Fate(Enum):
    """Where an exit code ends up."""

    READ = "somebody reads it"
    CONDITION = "a condition reads it"
    KEPT = "it is that of the script"
    STOPS = "set -e stops at it"
    FUNCTION = "it is that of a function"
    PIPE = "lost in a pipeline"
    OR = "swallowed by ||"
    AND = "set -e passes over the left of &&"
    UNREAD = "nobody reads it"
    DECLARED = "masked by a declaration"
    BACKGROUND = "it runs in the background"
    ARGUMENT = "it is an argument"
    SUPPRESSED = "set -e is off where a condition holds it"
    UNSURE = "the file does not say"


@dataclass(frozen=True, kw_only=True)
class Lot:
    """What becomes of an exit code, and the step where that is decided."""

    fate: Fate
    at: Step


def lot(step: Step) -> Lot:
    """Return what becomes of the exit code of a step.

    Source: POSIX sh §2.8.1 and ``set -e``; bash manual (pipefail). Blind to: traps on ERR; what sources this file.
    """
    here, left_of_and, inverted = step, None, False
    while (parent := here.parent) is not None:
        if parent.kind == "pipeline":
            if here is not parent.parts[-1] and not parent.pipefail:
                return Lot(fate=Fate.PIPE if parent.pipefail is False else Fate.UNSURE, at=parent)
        elif parent.kind == "or" and here is parent.parts[0]:
            return Lot(fate=Fate.OR if swallows(parent.parts[1]) else Fate.READ, at=parent)
        elif parent.kind == "and" and here is parent.parts[0]:
            left_of_and = parent
        elif parent.kind == "not":
            inverted = True
        elif parent.kind in ("if", "loop") and here.role == "condition":
            return Lot(fate=Fate.CONDITION, at=parent)
        elif parent.kind == "declare":
            return Lot(fate=Fate.DECLARED, at=parent)
        elif parent.kind in ("command", "test"):
            return Lot(fate=Fate.ARGUMENT, at=parent)
        elif parent.kind == "function":
            return Lot(fate=Fate.FUNCTION, at=parent)
        elif parent.kind in SEQUENCES:
            found = _in_sequence(here, parent, left_of_and, inverted)
            if found is not None:
                return found
        here = parent
    return Lot(fate=Fate.KEPT, at=here)


def _in_sequence(here: Step, parent: Step, left_of_and: Step | None, inverted: bool) -> Lot | None:
    """Return what a sequence does with the code of one of its parts, None where it becomes its own."""
    if here.is_background:
        return Lot(fate=Fate.BACKGROUND, at=here)
    after, is_free = here.next, left_of_and is None and not inverted
    if here.errexit and is_free and after is not None and not is_suppressed(here):
        return Lot(fate=Fate.STOPS, at=here)
    if after is not None and after.reads_status:
        return Lot(fate=Fate.READ, at=after)
    if here.errexit is None:
        return Lot(fate=Fate.UNSURE, at=here)
    if here.errexit and is_free and after is not None:
        return Lot(fate=Fate.SUPPRESSED, at=here)
    if after is None:
        return None
    if left_of_and is not None and here.errexit:
        return Lot(fate=Fate.AND, at=left_of_and)
    return Lot(fate=Fate.READ if inverted else Fate.UNREAD, at=here)


def is_suppressed(step: Step) -> bool:
    """Whether ``set -e`` is off at a step because a condition, an && or an || holds what it stands in."""
    here = step
    for parent in step.above():
        if here.role == "condition" or parent.kind == "not":
            return True
        if parent.kind in ("and", "or") and here is parent.parts[0]:
            return True
        if parent.kind in ("function", "substitution"):
            return False
        here = parent
    return False


def swallows(step: Step) -> bool:
    """Whether the right side of an || goes on as if nothing had been."""
    if step.kind == "command" and step.words:
        name = step.words[0]
        if name == "sleep":  # In a loop it is the pause before another try.
            return not any(parent.kind == "loop" for parent in step.above())
        return name in _SAYING or tells(step) or (name in ("exit", "return") and step.words[1:2] == ("0",))
    if step.kind in ("group", "subshell") and step.parts:
        return swallows(step.parts[-1]) and not any(map(_refuses, step.parts))
    return False


def says(step: Step) -> bool:
    """Whether a step does no more than print, and not into a file that another may read."""
    return step.kind == "command" and step.words[:1] != () and step.words[0] in _SAYING and not _KEEPS.search(step.text)


def tells(step: Step) -> bool:
    """Whether a command sends word to somebody, by the name of its file."""
    left = told(step.words)
    is_file = bool(left) and (len(left) < len(peel(step.words)) or "/" in left[0])
    return is_file and bool(_TELLS.search(left[0].rpartition("/")[2].lower()))


def _refuses(step: Step) -> bool:
    return not says(step) and bool(_REFUSES.search(step.text))


def is_conditional_call(call: Step) -> Step | None:
    """Return the condition, && or || or ! that a call stands in, so that ``set -e`` is off inside; None where none."""
    here = call
    for parent in call.above():
        if here.role == "condition" or parent.kind == "not":
            return parent
        if parent.kind in ("and", "or") and here is parent.parts[0]:
            return parent
        if parent.kind in ("function", "substitution", "script"):
            return None
        here = parent
    return None
