"""One test is run by itself, as often as asked, and nobody hears of it.

The hooks that set up, call and tear down are pytest's own, so capturing, fixtures and other people's plugins do what
they do. The hooks that report are not called: no outcome, warning, log line or debugger comes of a run in here. What
is private to pytest is used here and in :mod:`quiet` only; what is missing in a version is left out.

Source: pytest 9.2 (``_pytest/runner.py``, ``tmpdir.py``, ``warnings.py``, ``subtests.py``); pluggy 1.7.
Blind to: what a test does outside of its process and of its fixtures; ``os._exit`` ends the session, as it would.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import pytest

from affidavit.mutation.limit import Limit
from affidavit.pytest_plugin.ending import caught_by_unittest, ending_of, ending_of_report, holds
from affidavit.pytest_plugin.evidence import Ending
from affidavit.pytest_plugin.quiet import torn_down_whole, unremembered, untraced

_UNHEARD = frozenset(
    {
        "pytest_runtest_logstart",
        "pytest_runtest_logreport",
        "pytest_runtest_logfinish",
        "pytest_exception_interact",
        "pytest_warning_recorded",
    }
)
_LAST = ("last_type", "last_value", "last_traceback", "last_exc")


class Alone:
    """Runs items of one session by themselves."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.limit = Limit()
        self.said = ""
        """What ended the last run, in one line."""
        self._subtests: list[Ending] = []
        self._key = _result_key()

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Keep everything inside from being heard, traced, or found on disk afterwards."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._unheard())
            stack.enter_context(torn_down_whole())
            stack.enter_context(untraced())
            stack.enter_context(self._unlogged())
            stack.enter_context(self._elsewhere())
            stack.enter_context(self._unseen())
            yield

    def run(self, item: Any, seconds: float, *, code: CodeType | None = None, whole: bool = False) -> Ending:
        """Run one test with its fixtures set up anew, and return how it ended.

        Args:
            seconds: how long it may take; 0 for as long as it takes.
            code: of the disarmed function: what that itself raises is a crash, even an AssertionError.
            whole: set up anew what the test shares with others too: fixtures of its class, module and session.
        """
        environment, folder = dict(os.environ), Path.cwd()
        sections, properties = len(item._report_sections), len(item.user_properties)
        self.said, self._subtests = "", []
        raised: list[BaseException] = []
        try:
            with self._warned(item), unremembered(item):
                self._phases(item, seconds, raised, None if whole else item.parent)
        finally:
            self._left_clean(item, None if whole else item.parent)
            del item._report_sections[sections:], item.user_properties[properties:]
            if dict(os.environ) != environment:
                os.environ.clear()
                os.environ.update(environment)
            os.chdir(folder)
        endings = [*self._subtests, *(ending_of(error, code) for error in raised)]
        for error in raised[:1]:
            self.said = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
        caught = [one for one in endings if one.is_caught]
        return max(caught, key=list(Ending).index) if caught else endings[0] if endings else Ending.PASSED

    def finish(self, session: Any) -> None:
        """Tear down what the last tests left set up for one another."""
        with contextlib.suppress(BaseException):
            session._setupstate.teardown_exact(None)

    def _phases(self, item: Any, seconds: float, raised: list[BaseException], rest: Any) -> None:
        hook = item.ihook
        if not item._request:
            item._initrequest()
        if self._key is not None:
            item.stash[self._key] = {}  # tmp_path reads there, at its end, how its test went
        try:
            phases = (
                lambda: hook.pytest_runtest_setup(item=item),
                lambda: hook.pytest_runtest_call(item=item),
            )
            for phase in phases:
                self._phase(phase, seconds, raised)
                raised += caught_by_unittest(item)
                if raised:
                    break
            self._phase(lambda: hook.pytest_runtest_teardown(item=item, nextitem=rest), seconds, raised)
        finally:
            item._request = False
            item.funcargs = None

    def _phase(self, phase: Any, seconds: float, raised: list[BaseException]) -> None:
        try:
            with self.limit.of(seconds) if seconds else contextlib.nullcontext():
                phase()
        except BaseException as error:
            if holds(error, KeyboardInterrupt):
                raise
            raised.append(error)

    def _left_clean(self, item: Any, rest: Any) -> None:
        """Tear down what a teardown that was cut short left standing."""
        with contextlib.suppress(BaseException):
            item.session._setupstate.teardown_exact(rest)

    @contextlib.contextmanager
    def _unheard(self) -> Iterator[None]:
        """Answer the hooks that report with nothing. A failed subtest is known by its report alone, so that is read."""
        manager: Any = self.config.pluginmanager
        inner = manager._inner_hookexec

        def call(name: str, methods: Any, kwargs: Any, firstresult: bool) -> Any:
            if name not in _UNHEARD:
                return inner(name, methods, kwargs, firstresult)
            if name == "pytest_runtest_logreport" and kwargs["report"].failed:
                self._subtests.append(ending_of_report(kwargs["report"]))
            return None if firstresult else []

        manager._inner_hookexec = call
        last = {name: getattr(sys, name) for name in _LAST if hasattr(sys, name)}
        keeps = sys.dont_write_bytecode
        sys.dont_write_bytecode = True
        try:
            yield
        finally:
            manager._inner_hookexec = inner
            sys.dont_write_bytecode = keeps
            for name in _LAST:
                if name in last:
                    setattr(sys, name, last[name])
                elif hasattr(sys, name):
                    delattr(sys, name)

    @contextlib.contextmanager
    def _unlogged(self) -> Iterator[None]:
        """Take the handlers of ``log_cli`` and ``log_file`` away; each test still has its own."""
        root, plugin = logging.getLogger(), self.config.pluginmanager.get_plugin("logging-plugin")
        ours = (getattr(plugin, "log_cli_handler", None), getattr(plugin, "log_file_handler", None))
        before = root.handlers[:]
        root.handlers[:] = [handler for handler in before if handler not in ours]
        try:
            yield
        finally:
            root.handlers[:] = before

    @contextlib.contextmanager
    def _elsewhere(self) -> Iterator[None]:
        """Let temporary folders be made in one that is removed."""
        factory: Any = getattr(self.config, "_tmp_path_factory", None)
        if not hasattr(factory, "_basetemp"):
            yield
            return
        before, folder = factory._basetemp, Path(tempfile.mkdtemp(prefix="affidavit-guards-")).resolve()
        factory._basetemp = folder
        try:
            yield
        finally:
            factory._basetemp = before
            shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def _unseen(self) -> Iterator[None]:
        """Under ``-s`` nothing captures what tests print; it is said once, in the suite, and not for each disarm."""
        if self.config.getoption("capture") != "no":
            yield
            return
        with (
            Path(os.devnull).open("w") as nowhere,
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
        ):
            yield

    @contextlib.contextmanager
    def _warned(self, item: pytest.Item) -> Iterator[None]:
        """Filter warnings as pytest does around a test: where one is an error, it is one here."""
        unheard = SimpleNamespace(pytest_warning_recorded=SimpleNamespace(call_historic=lambda **_: None))
        if not self.config.pluginmanager.has_plugin("warnings"):
            yield
            return
        try:
            from _pytest.warnings import catch_warnings_for_item
        except ImportError:
            with warnings.catch_warnings(record=True):
                yield
            return
        with catch_warnings_for_item(config=self.config, ihook=unheard, when="runtest", item=item):
            yield


def _result_key() -> Any:
    try:
        from _pytest.tmpdir import tmppath_result_key
    except ImportError:
        return None
    return tmppath_result_key
