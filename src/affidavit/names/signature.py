"""What a callable takes by name, as it is installed: read from its source, or from the live object."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

REQUIRED = ""
"""The default of a parameter that has none."""


class Rest(enum.Enum):
    """What becomes of a name that is not among the parameters.

    CLOSED raises a TypeError. KEPT puts it on the object or into a bag, unread; it is found there after the call.
    OPEN goes where nobody could follow.
    """

    CLOSED = "closed"
    KEPT = "kept"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One name that is taken.

    ``default`` is Python source text, ``owner`` the class or function that reads it, ``deprecated`` what the library
    itself says against it, "" where it says nothing.
    """

    name: str
    default: str = REQUIRED
    owner: str = ""
    deprecated: str = ""


@dataclass(frozen=True, kw_only=True)
class Signature:
    """The names of one callable, the same whoever read them.

    ``callee`` is its dotted name where it is defined (``transformers.training_args.TrainingArguments``), ``package``
    the distribution and version it comes from (``transformers 5.24.0``), ``why`` where the rest goes in a few words.
    """

    callee: str
    package: str
    parameters: Mapping[str, Parameter]
    rest: Rest
    why: str = ""
