"""Which of a test's own lines ran: asked only of tests that hold an assertion in a branch or a loop.

On Python 3.12 and later by ``sys.monitoring``, under a tool number of its own, each line once. Before that by a trace
function, unless somebody traces already: a coverage tool's numbers are not ours to spoil, and then nothing is said.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

_TOOLS = (4, 3)


class Lines:
    """Collects the lines that ran of each code that was watched."""

    def __init__(self) -> None:
        self.ran: dict[CodeType, set[int]] = {}
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._tool = -1
        if self._monitoring is not None:
            self._tool = next((tool for tool in _TOOLS if self._monitoring.get_tool(tool) is None), -1)
            if self._tool >= 0:
                self._monitoring.use_tool_id(self._tool, "affidavit")
                self._monitoring.register_callback(self._tool, self._monitoring.events.LINE, self._line)

    def close(self) -> None:
        if self._tool >= 0:
            for code in self.ran:
                self._monitoring.set_local_events(self._tool, code, 0)
            self._monitoring.register_callback(self._tool, self._monitoring.events.LINE, None)
            self._monitoring.free_tool_id(self._tool)
            self._tool = -1

    @contextmanager
    def of(self, code: CodeType) -> Iterator[None]:
        """Watch one code while a test runs; what could not be watched has no entry in :attr:`ran`."""
        if self._monitoring is not None:
            if self._tool >= 0 and code not in self.ran:
                self.ran[code] = set()
                self._monitoring.set_local_events(self._tool, code, self._monitoring.events.LINE)
            yield
            return
        if sys.gettrace() is not None:
            yield
            return
        lines = self.ran.setdefault(code, set())

        def local(frame: FrameType, event: str, _: object) -> Any:
            if event == "line":
                lines.add(frame.f_lineno)
            return local

        def trace(frame: FrameType, _: str, __: object) -> Any:
            return local if frame.f_code is code else None

        sys.settrace(trace)
        try:
            yield
        finally:
            if sys.gettrace() is trace:
                sys.settrace(None)

    def _line(self, code: CodeType, line: int) -> Any:
        self.ran.setdefault(code, set()).add(line)
        return self._monitoring.DISABLE
