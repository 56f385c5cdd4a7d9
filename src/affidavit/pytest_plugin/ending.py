"""How a run ended: by an assertion of the test's, by a crash, by the clock, or not at all."""

from __future__ import annotations

from types import CodeType, TracebackType
from typing import Any

import pytest

from affidavit.mutation.limit import TimeIsUp
from affidavit.pytest_plugin.evidence import Ending


def ending_of(error: BaseException, code: CodeType | None) -> Ending:
    if isinstance(error, BaseExceptionGroup):  # noqa: F821  builtin since 3.11
        return max((ending_of(one, code) for one in error.exceptions), key=list(Ending).index)
    if isinstance(error, TimeIsUp):
        return Ending.HUNG
    if isinstance(error, pytest.skip.Exception | pytest.xfail.Exception):
        return Ending.SKIPPED
    if isinstance(error, AssertionError | pytest.fail.Exception):
        return Ending.CRASHED if code is not None and _innermost(error.__traceback__) is code else Ending.ASSERTED
    return Ending.CRASHED


def ending_of_report(report: Any) -> Ending:
    crash = getattr(report.longrepr, "reprcrash", None)
    said = getattr(crash, "message", str(report.longrepr))
    return Ending.ASSERTED if said.startswith(("AssertionError", "assert ", "Failed:")) else Ending.CRASHED


def caught_by_unittest(item: Any) -> list[BaseException]:
    """Return what a ``unittest.TestCase`` caught: its errors are kept in the item and not raised."""
    kept = item.__dict__.pop("_excinfo", None) or []
    return [one.value for one in kept]


def holds(error: BaseException, kind: type[BaseException]) -> bool:
    if isinstance(error, BaseExceptionGroup):  # noqa: F821  builtin since 3.11
        return any(holds(one, kind) for one in error.exceptions)
    return isinstance(error, kind)


def _innermost(traceback: TracebackType | None) -> CodeType | None:
    code = None
    while traceback is not None:
        code, traceback = traceback.tb_frame.f_code, traceback.tb_next
    return code
