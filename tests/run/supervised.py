"""Puts a supervisor in front of a command, as ``affidavit run`` does, and returns the command's own exit code.

supervised.py [--no-seal] PROJECT -- COMMAND…
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from affidavit.run.command import read_command
from affidavit.run.launch import prepare
from affidavit.run.sealing import ensure_sealed
from affidavit.run.supervise import supervise
from affidavit.run.witness import Witness


def main() -> int:
    words = sys.argv[1:]
    seals = "--no-seal" not in words
    place = words.index("--")
    project, command = Path(words[place - 1]), words[place + 1 :]
    environment = dict(os.environ)
    if environment.pop("AFFIDAVIT_TEST_DEAF", ""):
        Witness.shares = lambda self, number: time.sleep(0.3) or False  # type: ignore[method-assign, func-returns-value]
    prepared = prepare(
        read_command(command, cwd=Path.cwd(), environment=environment), project=project, environment=environment
    )
    ended = supervise(prepared)
    if seals:
        ensure_sealed(prepared.folder)
    return ended.code


if __name__ == "__main__":
    sys.exit(main())
