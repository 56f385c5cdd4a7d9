"""What is said instead of a signature where none is known."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Missing:
    """A callable of which no signature is known, and why.

    ``package_absent`` says that nothing of that name is installed. ``is_proved`` says that its module was read whole
    and has no such name; without it, nothing may be concluded.
    """

    why: str
    package_absent: bool
    is_proved: bool = False
