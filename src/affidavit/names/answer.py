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
_SHORTEST = 6
"""A name of fewer letters is near to many: where any name may be legal, it is no evidence (``dtype`` and ``type``)."""


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
    if signature.rest is Rest.CLOSED:
        return Judged(name=name, answer=Answer.UNKNOWN, near=nearest(name, signature.parameters))
    is_short = signature.rest is Rest.OPEN and len(name) < _SHORTEST
    return Judged(name=name, answer=Answer.OPEN, near="" if is_short else nearest(name, signature.parameters))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that a person most likely meant, "" where none is alike; nobody means a private one."""
    public = tuple(one for one in known if name.startswith("_") or not one.startswith("_"))
    found = difflib.get_close_matches(name, public, 1, _LIKENESS)
    return found[0] if found else ""
