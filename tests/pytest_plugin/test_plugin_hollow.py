"""Hollow tests are told under --affidavit-report; a test that looks, however it does, is not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

HOLLOW = """
import pytest
import gate


def test_nothing():
    str(gate)


def test_loop():
    for label in gate.masked([], []):
        assert label


def test_branch():
    labels = gate.masked([1], ["a"])
    with open(__file__):
        if not labels:
            assert labels
    assert labels


def test_early():
    if gate.masked([], []) == []:
        return
    assert 0


def test_swallowed():
    try:
        assert gate.masked([1], ["a"]) == [2]
    except Exception:
        pass


@pytest.mark.skip
def test_skipped():
    assert 0


def test_imported():
    pytest.importorskip("no_such_module")
"""

SOUND = """
import unittest
from unittest import mock

import pytest
import gate
from hypothesis import given, settings, strategies as st
from helper import Session, holds, fails_unless


class Own:
    def check_them(self, labels):
        assert labels


@pytest.fixture
def watched():
    yield []
    assert True


def test_plain(): assert gate.masked([1], ["a"])
def test_raises():
    with pytest.raises(ValueError): gate.masked([1], [])
def test_helper(): holds(gate.masked([1], ["a"]))
def test_helper_raises(): fails_unless(gate.masked([1], ["a"]))
def test_context():
    with Session(): gate.masked([1], ["a"])
def test_mock():
    called = mock.Mock(); called(); called.assert_called_once()
def test_fixture(watched): watched.append(gate.masked([1], ["a"]))
def test_method(): Own().check_them([1])
class TestUnit(unittest.TestCase):
    def test_unit(self): self.assertTrue(gate.masked([1], ["a"]))
@pytest.mark.parametrize("n", [0, 1])
def test_some_parameter(n):
    for label in gate.masked([1] * n, ["a"] * n):
        assert label
def test_handled():
    try:
        assert gate.masked([1], ["a"])
    except ValueError:
        pass
@pytest.mark.skip(reason="said")
def test_skipped(): ...
@pytest.mark.parametrize("n", [0, 1])
def test_returns_sometimes(n):
    if n:
        return
    assert gate.masked([1], ["a"])
@pytest.mark.xfail(reason="known")
def test_expected(): assert 0
@settings(max_examples=20, database=None)
@given(st.lists(st.integers(1, 9)))
def test_property(labels):
    for label in gate.masked(labels, labels):
        assert label
"""

GATE = """
def masked(labels, roles):
    if len(labels) != len(roles): raise ValueError
    return labels
"""

HELPER = """
class Session:
    def __enter__(self): return self
    def __exit__(self, *_): assert True

def holds(labels): deeper(labels)
def deeper(labels): assert labels
def fails_unless(labels):
    if not labels: raise RuntimeError
"""

TOLD = [
    "test_hollow.py:18: test_branch: an assertion in a branch or a loop that never ran",
    "test_hollow.py:24: test_early: returns before it asserts anything, and did so each time",
    "test_hollow.py:41: test_imported: skips whenever it is asked here: could not import 'no_such_module'",
    "test_hollow.py:11: test_loop: an assertion in a branch or a loop that never ran",
    "test_hollow.py:5: test_nothing: asserts nothing, and neither does anything it calls by name",
    "test_hollow.py:35: test_skipped: skips and gives no reason",
    "test_hollow.py:31: test_swallowed: a handler swallows its assertion without a word",
]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(gate=GATE)
    pytester.makepyfile(helper=HELPER)
    return pytester


ON = ("-p", "no:cacheprovider", "-p", "affidavit.pytest_plugin")


def _told(result: pytest.RunResult) -> list[str]:
    lines = [line for line in result.outlines if line.startswith("test_") and ": test_" in line]
    return [line.partition(": No module")[0] for line in lines]


def test_hollow_tests_are_told_and_end_nothing(project: pytest.Pytester) -> None:
    project.makepyfile(test_hollow=HOLLOW)
    result = project.runpytest_inprocess(*ON, "--affidavit-report")
    assert result.ret == 0
    assert _told(result) == TOLD
    assert not Path("instruments.jsonl").exists(), "no guard was asked, so there is nothing to date"
    assert _told(project.runpytest_inprocess(*ON)) == []


def test_whoever_looks_is_not_accused(project: pytest.Pytester) -> None:
    project.makepyfile(test_sound=SOUND)
    result = project.runpytest_inprocess(*ON, "--affidavit-report")
    assert result.ret == 0 and "hollow tests" not in result.stdout.str(), result.stdout.str()


def test_workers_know_together_what_ran(project: pytest.Pytester) -> None:
    project.makepyfile(test_hollow=HOLLOW, test_sound=SOUND)
    result = project.runpytest_subprocess(*ON, "-p", "xdist", "-n2", "--dist=load", "--affidavit-report")
    assert result.ret == 0
    assert _told(result) == TOLD


def test_a_coverage_tool_keeps_its_tracer(project: pytest.Pytester) -> None:
    project.makepyfile(test_hollow=HOLLOW)
    given = ("-p", "pytest_cov", "--cov=gate", "--cov-report=term-missing")
    bare = project.runpytest_subprocess(*ON, *given)
    result = project.runpytest_subprocess(*ON, "--affidavit-report", *given)
    (covered,) = [line for line in bare.outlines if line.startswith("gate.py")]
    assert covered in result.outlines
    unseen = [line for line in TOLD if "never ran" in line or "each time" in line]
    traced = not hasattr(sys, "monitoring")
    assert _told(result) == [line for line in TOLD if not (traced and line in unseen)]
