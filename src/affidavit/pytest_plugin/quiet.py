"""What is held still while tests are run again: tracers, remembered examples, and teardowns that would be forgotten.

Source: pytest 9.2 (``_pytest/runner.py``), coverage 7.17 (both cores), Hypothesis 6.170.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

_SETTINGS = "_hypothesis_internal_use_settings"


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """Pause whoever traces lines, so that a coverage tool never counts what only a disarmed program reached."""
    tracer = sys.gettrace()
    sys.settrace(None)
    heard: list[tuple[int, int, Any]] = []
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None:
        for tool in filter(monitoring.get_tool, range(6)):
            for place in range(20):
                before = _callback(monitoring, tool, 1 << place, None)
                heard += [(tool, 1 << place, before)] if before is not None else []
    try:
        yield
    finally:
        for tool, event, before in heard:
            _callback(monitoring, tool, event, before)
        sys.settrace(tracer)


@contextlib.contextmanager
def torn_down_whole() -> Iterator[None]:
    """Let no finalizer keep the next one from its turn, whatever a disarmed program raises in it.

    pytest goes on after an Exception. A tripwire, a limit, a SystemExit in one teardown would leave a patched module
    behind for good, because the finalizers after it are forgotten.
    """
    runner: Any = sys.modules.get("_pytest.runner")
    before = getattr(runner, "TEST_OUTCOME", None)
    if before is None:
        yield
        return
    runner.TEST_OUTCOME = (BaseException,)
    try:
        yield
    finally:
        runner.TEST_OUTCOME = before


@contextlib.contextmanager
def unremembered(item: Any) -> Iterator[None]:
    """Let Hypothesis neither remember an example that a disarmed program fell over, nor look for a shorter one."""
    hypothesis: Any = sys.modules.get("hypothesis")
    function = getattr(item.obj, "__func__", item.obj)
    before = getattr(function, _SETTINGS, None)
    if hypothesis is None or before is None:
        yield
        return
    phases = [phase for phase in before.phases if phase.name in ("explicit", "generate")]
    setattr(function, _SETTINGS, hypothesis.settings(before, database=None, phases=phases, deadline=None))
    try:
        yield
    finally:
        setattr(function, _SETTINGS, before)


def _callback(monitoring: Any, tool: int, event: int, function: Any) -> Any:
    try:
        return monitoring.register_callback(tool, event, function)
    except ValueError:  # no event of this version
        return None
