"""What one session saw of hollow tests, under ``--affidavit-report``."""

from __future__ import annotations

import inspect
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from affidavit.pytest_plugin.hollow import Hollow, Reader, Watched, swallowed, watched
from affidavit.pytest_plugin.lines import Lines

_NO_REASON = ("", "unconditional skip")
NEVER_RAN = "an assertion in a branch or a loop that never ran"
TOO_EARLY = "returns before it asserts anything, and did so each time"
ANYWHERE = "an assertion of the test"


class Look:
    """Watches tests run, and says afterwards which of them did not look at anything."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.root = Path(config.rootpath)
        self.lines = Lines()
        self.reader = Reader(self.root)
        self.found: set[Hollow] = set()
        self.ran: set[tuple[str, str]] = set()
        """The places, by test and ``file:line``, that ran on some worker: nothing that ran is told as never run."""
        self._watched: dict[str, tuple[CodeType, Watched]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        code = _code(item)
        node = None if code is None else self.reader.definition(code.co_filename, code.co_firstlineno)
        if code is None or node is None:
            return (yield)
        lines = watched(node)
        if not (lines.asserts or lines.returns):
            return (yield)
        self._watched[_test(item)] = (code, lines)
        with self.lines.of(code):
            return (yield)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            self._skipped(report.nodeid, report.longrepr)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail") and isinstance(report.longrepr, tuple):
            self._skipped(report.nodeid.partition("[")[0], report.longrepr)

    def judge(self, items: Iterable[pytest.Item], endings: Mapping[str, tuple[str, str]]) -> None:
        """Look at every test that passed, once its parameters have all had their turn."""
        passed = [item for item in items if endings.get(item.nodeid, ("",))[0] == "passed"]
        self.reader.beside = frozenset(Path(item.path).parent for item in passed)
        for item in {_test(item): item for item in passed}.values():
            code = _code(item)
            node = None if code is None else self.reader.definition(code.co_filename, code.co_firstlineno)
            if code is None or node is None:
                continue
            test = _test(item)
            if not self.reader.asserts(node, getattr(item, "fixturenames", ())):
                self._tell(test, code, node.lineno, "asserts nothing, and neither does anything it calls by name")
            for line in swallowed(node):
                self._tell(test, code, line, "a handler swallows its assertion without a word")
        for test, (code, lines) in self._watched.items():
            self._never(test, code, lines)
        self.lines.close()

    def settled(self) -> list[Hollow]:
        """Return what stands, of all workers: an assertion that ran on one of them did run."""
        return sorted(one for one in self.found if not self._is_refuted(one))

    def _is_refuted(self, one: Hollow) -> bool:
        at = one.at if one.why == NEVER_RAN else ANYWHERE
        return one.why in (NEVER_RAN, TOO_EARLY) and (one.test, at) in self.ran

    def _never(self, test: str, code: CodeType, lines: Watched) -> None:
        ran, has = self.lines.ran.get(code), {line for *_, line in code.co_lines()}
        if not ran or not all(has & set(range(first, last + 1)) for first, last in lines.every):
            return  # nobody could look, or not at the code that asserts
        for first, last in lines.every:
            if ran & set(range(first, last + 1)):
                self.ran |= {(test, self._at(code, first)), (test, ANYWHERE)}
        for first, _ in lines.asserts:
            self._tell(test, code, first, NEVER_RAN)
        early = [first for first, _ in lines.returns if first in ran]
        if early:
            self._tell(test, code, early[0], TOO_EARLY)

    def _skipped(self, test: str, said: tuple[Any, ...]) -> None:
        path, line, reason = str(said[0]), said[1], str(said[2]).removeprefix("Skipped: ").removeprefix("Skipped")
        at = self._shown(path) + f":{line}"
        if reason.strip() in _NO_REASON:
            self.found.add(Hollow(test, at, "skips and gives no reason"))
        elif reason.startswith("could not import"):
            self.found.add(Hollow(test, at, f"skips whenever it is asked here: {reason}"))

    def _tell(self, test: str, code: CodeType, line: int, why: str) -> None:
        self.found.add(Hollow(test, self._at(code, line), why))

    def _at(self, code: CodeType, line: int) -> str:
        return f"{self._shown(code.co_filename)}:{line}"

    def _shown(self, name: str) -> str:
        path = Path(name)
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else name


def _test(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _code(item: pytest.Item) -> CodeType | None:
    """Return the code that holds the test's own lines; Hypothesis calls it from one that only looks like it."""
    function = getattr(item, "function", None)
    function = None if function is None else inspect.unwrap(function)
    function = getattr(getattr(function, "hypothesis", None), "inner_test", function)
    return function.__code__ if inspect.isfunction(function) else None
