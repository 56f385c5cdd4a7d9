"""Who says something here, where nobody gave a name.

Blind to: who really sits at the keyboard; git and the system say what they were told.
"""

from __future__ import annotations

import getpass
from pathlib import Path

from affidavit.observe import git
from affidavit.observe.error import ObserveError


def author_of(root: Path) -> str:
    """Return git's user.name, else the login name, else ""."""
    try:
        named = git.ask(root, "config", "user.name", accept=(0, 1), resets=False).text
    except ObserveError:
        named = ""
    try:
        return named or getpass.getuser()
    except (KeyError, OSError):  # a container's user may have a number only
        return ""
