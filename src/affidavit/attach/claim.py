"""Claims: what each of several places that may decide one value says it is to be, and what came of it.

A request is what the script asks for; a claim is any place's word, so that it can be told whose word won.
"""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.attach.moment import Moment


@dataclass(frozen=True)
class Claim:
    """The word of one place on a value: ``owner`` names the place, ``typed`` says that a person wrote it there.

    What a tool writes or takes where nobody said anything is not typed. ``term`` is the one whose request, or whose
    word from outside, this claim is as well.
    """

    owner: str
    value: str
    typed: bool
    term: str = ""


@dataclass(frozen=True, kw_only=True)
class Claimed(Moment):
    """Places that may decide one value say what it is to be; ``live`` is what the object has that trains.

    Several adapters may know of one ``subject``: their claims add up, and the last word on ``live`` stands. Values are
    in one wording, so that equal ones are equal text.
    """

    subject: str
    claims: tuple[Claim, ...]
    live: str
