"""Silence is not a pass: where CI is set, a skipped test fails unless its reason is on the list below."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from server import Server

REASONS_TO_SKIP = (
    "no Python 3.10 here",  # the inner half's oldest Python is not on every machine; mypy reads it as 3.10 everywhere
    "mount needs root",  # a full disk is a small tmpfs
    "no CUDA device",
    "no memory control group",  # the kernel's files are read in tests/run/test_run_parts.py everywhere
)
"""The beginnings of the reasons that stay a skip on CI. Add one only with the name of what still covers the test."""


LONGEST = ("world/test_worlds.py", "old/test_old_worlds.py", "corpus/test_corpus.py", "world/test_demo.py")
"""Files that take minutes, the longest first: whoever runs files side by side begins with them (`make test` does)."""
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the models here are tiny, and two trainings share two cores

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def is_allowed(reason: str) -> bool:
    return reason.removeprefix("Skipped: ").startswith(REASONS_TO_SKIP)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: next((at for at, file in enumerate(LONGEST) if file in item.nodeid), len(LONGEST)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return _refused(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return _refused(report)


def _refused(report: Report) -> Report:
    """Return the report, as a failure where it is a skip that CI does not admit; an expected failure is no skip."""
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        reason = _reason(report.longrepr)
        if not is_allowed(reason):
            report.outcome = "failed"
            where = "this reason is not on the list in tests/conftest.py"
            report.longrepr = f"{report.nodeid}: skipped on CI ({reason}); {where}"
    return report


def _reason(said: Any) -> str:
    return str(said[2]) if isinstance(said, tuple) else str(said)


@pytest.fixture(scope="session")
def world_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One process with the frameworks imported and attached; each case is a fork of it."""
    from server import Server

    with Server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="session")
def old_python() -> Path:
    """The interpreter of the older stack, which ``make test`` sets up; without it nothing is known of that stack."""
    place = Path(f"{sys.prefix}-old")
    if not (place / "ready").exists():
        pytest.skip(f'the older stack is not in {place}; "make venv-old" sets it up')
    return place / "bin/python"


@pytest.fixture(scope="session")
def tracker_python() -> Path:
    """The interpreter with a tracker, which ``make test`` sets up; without it nothing is known of trackers."""
    place = Path(f"{sys.prefix}-tracker")
    if not (place / "ready").exists():
        pytest.skip(f'no tracker is in {place}; "make venv-tracker" sets it up')
    return place / "bin/python"
