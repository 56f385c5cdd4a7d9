"""Asks a child process about a user's function: no process of ours imports a module of the user's.

Source: ``affidavit.cache.probe.asked``, which answers.
Blind to: a module that needs another interpreter than the one Affidavit is installed in.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from affidavit.fact.errors import AffidavitError, refusal

GRACE_SECONDS = 120.0
"""For what the module imports, and for children that end one after the other."""


class AskedError(AffidavitError):
    """The child did not answer, or refused to; ``kind`` is the error that it ended with."""

    def __init__(self, said: str, kind: str = "") -> None:
        super().__init__(said)
        self.kind = kind


def ask(order: Mapping[str, Any], *, seconds: float) -> Any:
    """Return what a child process answers to an order.

    Raises:
        AskedError: it refused, ended without an answer, or did not end.
    """
    with tempfile.TemporaryDirectory(prefix="affidavit-asked-") as folder:
        answer = Path(folder, "answer.json")
        argv = [sys.executable, "-m", "affidavit.cache.probe.asked", str(answer)]
        said = json.dumps({**order, "seconds": seconds}).encode()
        try:
            ended = subprocess.run(argv, input=said, stdout=2, timeout=seconds + GRACE_SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise AskedError(_silent(order, f"none after {seconds + GRACE_SECONDS:.0f} s")) from error
        if not answer.is_file():
            raise AskedError(_silent(order, f"none (exit code {ended.returncode})"))
        found = json.loads(answer.read_text())
    if "refused" in found:
        raise AskedError(found["refused"], found["kind"])
    return found["answer"]


def _silent(order: Mapping[str, Any], saw: str) -> str:
    return refusal(
        subject=f"cache {order['do']} of {order['function']}",
        expected="an answer of the process that imported it",
        saw=saw,
        means="Nothing is known of it.",
        action="Import the module by itself, and look at what it does.",
        unaffected="what is cached",
    )
