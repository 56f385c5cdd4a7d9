"""The suite cannot shrink without a word: a skip is a failure on CI, and only the listed reasons stay skips."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).parents[1] / "conftest.py"

WAYS = {
    "in_a_test": 'def test_it():\n    pytest.skip("{reason}")\n',
    "by_a_mark": '@pytest.mark.skip(reason="{reason}")\ndef test_it():\n    pass\n',
    "whole_file": 'pytest.skip("{reason}", allow_module_level=True)\n\ndef test_it():\n    pass\n',
    "no_module": 'pytest.importorskip("no_such_module", reason="{reason}")\n\ndef test_it():\n    pass\n',
    "fixture": '@pytest.fixture\ndef thing():\n    pytest.skip("{reason}")\n\ndef test_it(thing):\n    pass\n',
}


def _pytest(folder: Path, sources: dict[str, str], *, ci: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST.read_text())
    for name, source in {**sources, "healthy": "def test_beside_them():\n    pass\n"}.items():
        (folder / f"test_{name}.py").write_text(f"import pytest\n\n{source}")
    environment = {**os.environ, "CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-rfEs", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    command += ["--continue-on-collection-errors", str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def _skipping(reason: str) -> dict[str, str]:
    return {name: source.format(reason=reason) for name, source in WAYS.items()}


def test_every_way_to_skip_fails_on_ci(tmp_path: Path) -> None:
    ended = _pytest(tmp_path, _skipping("did not feel like it"), ci="true")
    assert ended.returncode == 1, ended.stdout
    for name in WAYS:
        assert f"test_{name}.py" in ended.stdout.partition("short test summary")[2]
    assert ended.stdout.count("(Skipped: did not feel like it); this reason is not on the list") >= len(WAYS)
    assert "1 failed, 1 passed, 4 errors" in ended.stdout


def test_a_listed_reason_stays_a_skip_on_ci(tmp_path: Path) -> None:
    ended = _pytest(tmp_path, _skipping("no CUDA device: nothing to ask"), ci="true")
    assert ended.returncode == 0, ended.stdout
    assert "1 passed, 5 skipped" in ended.stdout


def test_off_ci_a_skip_is_a_skip(tmp_path: Path) -> None:
    ended = _pytest(tmp_path, _skipping("did not feel like it"), ci="")
    assert ended.returncode == 0, ended.stdout
    assert "1 passed, 5 skipped" in ended.stdout


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    source = "@pytest.mark.xfail(strict=True)\ndef test_it():\n    raise ValueError\n"
    ended = _pytest(tmp_path, {"expected": source}, ci="true")
    assert ended.returncode == 0, ended.stdout
    assert "1 passed, 1 xfailed" in ended.stdout
