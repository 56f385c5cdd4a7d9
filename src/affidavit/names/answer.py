"""Three answers to one name: KNOWN, UNKNOWN, OPEN. Two would call ``attn_implementation`` a misspelling.

Source: anchors-mechanisms C2 (a closed set of the names of ``from_pretrained`` rejects the two that matter most).
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterable
from dataclasses import dataclass

from affidavit.names.signature import Rest, Signature

_LIKENESS = 0.8


class Answer(enum.Enum):
    """KNOWN is read by somebody; UNKNOWN raises; OPEN is swallowed or followed nowhere, and decided after the call."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The answer to one name, and the nearest name that is known, "" where none is near."""

    name: str
    answer: Answer
    near: str = ""


def judge(signature: Signature, name: str) -> Judged:
    """Return the answer of a signature to one name.

    Blind to: whether a KNOWN name is heeded; that is the value's question.
    """
    if name in signature.parameters:
        return Judged(name=name, answer=Answer.KNOWN)
    answer = Answer.UNKNOWN if signature.rest is Rest.CLOSED else Answer.OPEN
    return Judged(name=name, answer=answer, near=nearest(name, signature.parameters))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that a person most likely meant, "" where none is alike."""
    found = difflib.get_close_matches(name, tuple(known), 1, _LIKENESS)
    return found[0] if found else ""
