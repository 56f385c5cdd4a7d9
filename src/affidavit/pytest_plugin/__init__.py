"""The pytest plugin: a test that claims to guard something is held to it, after the suite and in the same process.

    @pytest.mark.guards("pkg.mod:function", property="mask covers impersonation")

A suite without that marker pays for two options and a collected list looked through; nothing else is imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from affidavit.pytest_plugin.session import Guards

MARKER = "guards"
NAME = "affidavit-guards"
SECONDS = "affidavit_guard_seconds"
MODES = ("fail", "tell", "off")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("affidavit", "affidavit: tests that are proved able to fail")
    group.addoption(
        "--affidavit-guards",
        choices=MODES,
        default="fail",
        help="What a marked test that cannot fail does: end the session with 1 (default), be told, or not be asked.",
    )
    group.addoption(
        "--affidavit-report",
        nargs="?",
        const="",
        default=None,
        metavar="PATH",
        help="Write what was proved into the instrument ledger (instruments.jsonl of the project, or =PATH), and tell "
        "of tests that assert nothing, of assertions that never ran, of silent skips.",
    )
    parser.addini(SECONDS, "How long one marked test may be asked about.", default="60")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f'{MARKER}("module:function", property="…"): this test guards a property of that function; after the suite '
        "the function is disarmed in memory, and the test must mind.",
    )
    seconds = str(config.getini(SECONDS))
    if not seconds.replace(".", "", 1).isdecimal() or not float(seconds):
        raise pytest.UsageError(f"{SECONDS}: expected a number of seconds above 0, saw {seconds!r}")
    path = config.getoption("affidavit_report")
    if path and (path.endswith(".py") or "::" in path or Path(path).is_dir()):
        raise pytest.UsageError(
            f'--affidavit-report took "{path}" for its own; write --affidavit-report=FILE, or end with it'
        )
    if path is not None:
        _guards(config)


def pytest_collection_finish(session: pytest.Session) -> None:
    is_asked = session.config.getoption("affidavit_guards") != "off" and not session.config.option.collectonly
    if is_asked and any(item.get_closest_marker(MARKER) for item in session.items):
        _guards(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker of xdist found; the worker that died says nothing, and its tests are the suite's failures."""
    said = getattr(node, "workeroutput", {}).get(NAME)
    if said is not None:
        _guards(node.config).heard(said)


def _guards(config: pytest.Config) -> Guards:
    found = config.pluginmanager.get_plugin(NAME)
    if found is None:
        from affidavit.pytest_plugin.session import Guards

        found = Guards(config)
        config.pluginmanager.register(found, NAME)
    return found
