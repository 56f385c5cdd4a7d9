"""What the plugin does in one session: remembers how marked tests went, asks them afterwards, tells what it saw."""

from __future__ import annotations

import inspect
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from affidavit.pytest_plugin import MARKER, NAME, SECONDS
from affidavit.pytest_plugin.evidence import Evidence, packed, unpacked
from affidavit.pytest_plugin.hollow import Hollow

if TYPE_CHECKING:
    from affidavit.pytest_plugin.look import Look

_WATCHED = (("usepdb", "--pdb"), ("trace", "--trace"), ("setupshow", "--setup-show"), ("setuponly", "--setup-only"))
"""Options under which a person looks at each run; a hundred more are not what they asked for."""


class Guards:
    """Registered where a marked test was collected, or a report was asked for."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.mode = str(config.getoption("affidavit_guards"))
        self.evidence: dict[tuple[str, str, str], Evidence] = {}
        self.endings: dict[str, tuple[str, str]] = {}
        self.unasked = ""
        self.written = ""
        self.look: Look | None = None
        if config.getoption("affidavit_report") is not None:
            from affidavit.pytest_plugin.look import Look

            self.look = Look(config)
            config.pluginmanager.register(self.look, f"{NAME}-look")

    @property
    def is_worker(self) -> bool:
        return hasattr(self.config, "workerinput")

    def heard(self, said: Mapping[str, Any]) -> None:
        """Take what a worker saw."""
        self.unasked = self.unasked or said["unasked"]
        for one in map(unpacked, said["evidence"]):
            held = self.evidence.get(one.key)
            self.evidence[one.key] = one if held is None else held.merged(one)
        if self.look is not None:
            self.look.found |= {Hollow(*one) for one in said["hollow"]}
            self.look.ran |= {(test, at) for test, at in said["ran"]}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        before = self.endings.get(report.nodeid, ("", ""))[0]
        if before not in ("failed", "skipped") and (report.when == "call" or not report.passed):
            ending = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", "")
            self.endings[report.nodeid] = (ending, str(why).removeprefix("Skipped: "))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        result = yield
        if self.mode != "off" and session.items and not session.config.option.collectonly:
            watched = next((name for option, name in _WATCHED if session.config.getoption(option, False)), "")
            stopped = session.shouldstop or session.shouldfail
            self.unasked = f"not asked under {watched}" if watched else f"not asked: {stopped}" if stopped else ""
            if not self.unasked:
                self._ask(session)
        if self.look is not None and session.items:
            self.look.judge(session.items, self.endings)
        return result

    def _ask(self, session: pytest.Session) -> None:
        groups = dict(self._groups(session))
        if not groups:
            return
        from affidavit.pytest_plugin.alone import Alone
        from affidavit.pytest_plugin.drill import ask

        alone, seconds = Alone(session.config), float(session.config.getini(SECONDS))
        with alone.quiet():
            for key, (evidence, items) in groups.items():
                if self.is_worker and not any(item.nodeid in self.endings for item in items):
                    continue  # another worker ran it
                able = [item for item in items if self.endings.get(item.nodeid, ("",))[0] == "passed"]
                if evidence.error or not able:
                    self.evidence[key] = evidence if evidence.error else self._unable(evidence, items)
                else:
                    self.evidence[key] = ask(evidence, able, alone, seconds=seconds, root=session.config.rootpath)

    def _groups(self, session: pytest.Session) -> Iterator[tuple[tuple[str, str, str], tuple[Evidence, list[Any]]]]:
        """Yield each marked test once, with its items; the parameters of one test answer together."""
        found: dict[tuple[str, str, str], tuple[Evidence, list[Any]]] = {}
        for item in session.items:
            for mark in item.iter_markers(MARKER):
                evidence = _declared(item, mark)
                found.setdefault(evidence.key, (evidence, []))[1].append(item)
        yield from found.items()

    def _unable(self, evidence: Evidence, items: list[Any]) -> Evidence:
        ending, why = self.endings.get(items[0].nodeid, ("not run", ""))
        said = f"it was {ending}" if ending in ("skipped", "xfailed", "not run") else f"it {ending} in the suite"
        return replace(evidence, error=f"{said}: {why}" if why else said)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.is_worker:
            look = self.look
            said = {
                "evidence": [packed(one) for one in self.evidence.values()],
                "unasked": self.unasked,
                "hollow": [] if look is None else [(one.test, one.at, one.why) for one in look.found],
                "ran": [] if look is None else list(look.ran),
            }
            self.config.workeroutput[NAME] = said  # type: ignore[attr-defined]
            return
        blocked = self.mode == "fail" and any(one.blocks for one in self.evidence.values())
        if blocked and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        path = self.config.getoption("affidavit_report")
        if path is not None:
            from affidavit.pytest_plugin.report import write

            self.written = write(path, self.config.rootpath, tuple(self.evidence.values()))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from affidavit.pytest_plugin.summary import show, show_hollow

        if self.look is not None:
            show_hollow(terminalreporter, self.look.settled())
        show(terminalreporter, tuple(self.evidence.values()), self.unasked, self.written)


def _declared(item: Any, mark: pytest.Mark) -> Evidence:
    """Return what a marker says, with an error where nothing can come of it."""
    test = str(item.nodeid).partition("[")[0]
    target = mark.args[0] if len(mark.args) == 1 and isinstance(mark.args[0], str) else ""
    says = mark.kwargs.get("property", "")
    if not target or not isinstance(says, str) or set(mark.kwargs) - {"property"}:
        error = f'expected guards("module:function", property="…"), saw args={mark.args!r} kwargs={mark.kwargs!r}'
        return Evidence(test=test, target=target or "?", error=error[:300], is_declared_wrong=True)
    error = ""
    if not isinstance(item, pytest.Function):
        error = f"a {type(item).__name__} is not run again"
    elif inspect.iscoroutinefunction(item.obj) or inspect.isasyncgenfunction(item.obj):
        error = "an async test is not run again: its loop is another plugin's"
    return Evidence(test=test, target=target, says=says, error=error)
