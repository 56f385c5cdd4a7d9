"""What ``--affidavit-report`` leaves behind: a dated line for each guard in the ledger of instruments."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from pathlib import Path

from affidavit.fact import VERSION
from affidavit.fact import folder as names
from affidavit.pytest_plugin.evidence import Evidence, Word

KIND = "guard"
MISSED = 50
"""Missed disarms that one line of the ledger names."""


def write(path: str, root: Path, evidence: Sequence[Evidence]) -> str:
    """Append a line for each guard that could be asked, and return what to say: where, or why not.

    An ERROR is no line: nothing was learnt, and the last proof stands or falls with the code it names.
    """
    asked = [one for one in evidence if one.word is not Word.ERROR]
    if not asked:
        return ""
    try:
        from affidavit.record import ledger
        from affidavit.record.ledger import Instrument
        from affidavit.settings import find_root
    except ImportError as error:
        return f"no ledger was written: {error}"
    file = Path(path) if path else find_root(root) / names.LEDGER
    today = datetime.datetime.now(datetime.UTC).date()
    lines = [
        Instrument(
            kind=KIND,
            name=f"{one.test} guards {one.target}",
            date=today,
            caught=0 if one.word is Word.INERT else len(one.caught),
            total=len(one.disarms),
            affidavit=VERSION,
            word=one.word.value,
            on=dict(one.digests),
            missed=tuple(f"{missed.at} {missed.operator}" for missed in one.missed[:MISSED]),
            says=one.says,
            seconds=round(one.seconds, 3),
        )
        for one in asked
    ]
    try:
        ledger.append(file, lines)
    except OSError as error:
        return f"no ledger was written: {os.fspath(file)}: {error.strerror}"
    told = file.relative_to(root) if file.is_relative_to(root) else file
    return f"{len(lines)} {'line' if len(lines) == 1 else 'lines'} in {os.fspath(told)}"
