"""The rows L6 of docs/corpus.md that are about tests: each green and unable to fail, beside a twin that can.

L6-06 and L6-07, tests that assert nothing, are in test_plugin_hollow.py; what is wrong in scripts is in tests/lint.
"""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

FLOPS = """
class State:
    total_flos = 0

    def count(self, tokens, parameters):
        self.total_flos = self.total_flos + 6 * tokens * parameters
"""
LIMIT = """
def limited(powers, most):
    return [most if power > most else power for power in powers]


def limited_fast(powers, most):
    return [min(power, most) for power in powers]
"""
CHECK = """
def refused(rows, banned):
    return [row for row in rows if row["role"] in banned and row["lit"]]
"""
HEAD = """
import pytest
import {module}


@pytest.mark.guards("{module}:{function}")
def test_it():
"""
L6_04 = ("flops", FLOPS, "State.count", "    state = flops.State()\n    state.count(10, 100)\n    ")
L6_05 = ("limit", LIMIT, "limited", "    powers, most = ")
L6_08 = ("check", CHECK, "refused", '    rows = [{"role": "user", "lit": True}, {"role": "model", "lit": True}]\n    ')
SAME = "\n    assert limit.limited(powers, most) == limit.limited_fast(powers, most)"
CASES = {
    "L6-04 the counter need not move": (L6_04, "assert state.total_flos >= 0", "INERT"),
    "L6-04 twin": (L6_04, "assert state.total_flos == 6000", "PROVED"),
    "L6-05 the constraint never binds": (L6_05, f"[1, 2], 10{SAME}", "WEAK"),
    "L6-05 twin": (L6_05, f"[1, 20], 10{SAME}", "PROVED"),
    "L6-08 nothing is banned": (L6_08, "assert check.refused(rows, []) == []", "WEAK"),
    "L6-08 mended, and as vacuous": (L6_08, 'assert len(check.refused(rows, ["user"])) <= len(rows)', "INERT"),
    "L6-08 twin": (
        L6_08,
        'rows[1:1] = [{"role": "user", "lit": False}]\n    assert check.refused(rows, ["user"]) == rows[:1]',
        "PROVED",
    ),
}
HARDWARE = """
import pytest
import check


@pytest.mark.guards("check:refused")
@pytest.mark.parametrize("device", [{devices}])
def test_kernel(device):
    if device == "cuda":
        pytest.skip("needs a GPU")
    rows = [{{"role": "user", "lit": True}}, {{"role": "user", "lit": False}}, {{"role": "model", "lit": True}}]
    assert check.refused(rows, ["user"]) == rows[:1]
"""


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def _run(pytester: pytest.Pytester, *given: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "affidavit.pytest_plugin", *given)


@pytest.mark.parametrize("name", CASES)
def test_a_test_that_cannot_fail_is_told_from_one_that_can(pytester: pytest.Pytester, name: str) -> None:
    (module, source, function, before), after, word = CASES[name]
    test = HEAD.format(module=module, function=function) + before + after + "\n"
    pytester.makepyfile(**{module: source, "test_row": test})
    assert _run(pytester, "--affidavit-guards=off").ret == 0, "all is green where nobody asks"
    result = _run(pytester)
    (line,) = [line for line in result.outlines if line.startswith("guards: ")]
    assert f"1 {'proved' if word == 'PROVED' else word}" in line.partition(";")[0]
    assert (result.ret == 0) is (word != "INERT"), result.outlines


@pytest.mark.parametrize("devices", ['"cuda"', '"cuda", "cpu"'], ids=["fault", "clean"])
def test_l6_03_a_guard_that_is_skipped_for_the_hardware_is_no_proof(pytester: pytest.Pytester, devices: str) -> None:
    pytester.makepyfile(check=CHECK, test_row=HARDWARE.format(devices=devices))
    result = _run(pytester)
    assert result.ret == 0
    (line,) = [line for line in result.outlines if line.startswith("guards: ")]
    is_told = "it was skipped: needs a GPU" in result.stdout.str()
    assert (is_told, "1 proved" in line) == (("cpu" not in devices), "cpu" in devices)
