"""A suite is the same with guards and without; and whatever a test is made of, it can be asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from projects import GOOD, INERT, MASK, WEAK

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load the plugins that are named and no others: there are dozens around here, and each run would pay."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


ON = ("-p", "affidavit.pytest_plugin")

RICH = """
import logging, unittest, warnings
import pytest
import gate


@pytest.fixture(scope="session")
def once():
    return gate.masked([1, 2], ["user", "assistant"])


@pytest.fixture(scope="module")
def early(once):
    yield once + [0]


@pytest.fixture(scope="class")
def shared(early):
    return early


class TestClass:
    @pytest.fixture(autouse=True)
    def setting(self, monkeypatch):
        monkeypatch.setenv("A", "1")
        yield
        assert gate.masked([], []) == []

    @pytest.mark.guards("gate:masked", property="by a fixture of the session")
    def test_shared(self, shared):
        assert shared == [-100, 2, 0]

    @pytest.mark.guards("gate:masked", property="with everything")
    def test_rich(self, tmp_path, tmp_path_factory, capsys, caplog, monkeypatch, recwarn, request):
        print("said")
        logging.getLogger("gate").warning("logged")
        warnings.warn("warned", UserWarning)
        (tmp_path / "a").write_text("a")
        (tmp_path_factory.mktemp("more") / "b").write_text("b")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(gate, "settled", None)
        assert capsys.readouterr().out == "said\\n" and caplog.messages == ["logged"] and len(recwarn) == 1
        assert gate.masked([1], ["user"]) == [-100]
        request.addfinalizer(lambda: None)


class TestUnit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = gate.masked([1], ["a"])

    def setUp(self):
        self.labels = [1]

    @pytest.mark.guards("gate:masked", property="unittest")
    def test_unit(self):
        self.assertEqual(gate.masked(self.labels, ["user"]), [-100])

    @pytest.mark.guards("gate:masked", property="in a subtest")
    def test_sub(self):
        for role, want in (("user", -100), ("a", 1)):
            with self.subTest(role=role):
                self.assertEqual(gate.masked(self.labels, [role]), [want])


@pytest.mark.guards("gate:masked", property="subtests")
def test_subtests(subtests):
    with subtests.test("one"):
        assert gate.masked([1], ["user"]) == [-100]


@pytest.mark.guards("gate:masked", property="any parameter")
@pytest.mark.parametrize(("role", "want"), [("user", -100), ("a", 1)])
def test_parameters(role, want):
    assert gate.masked([1], [role]) == [want]


@pytest.mark.guards("gate:settled", property="it ends")
def test_ends():
    assert gate.settled(3) == 0


@pytest.mark.guards("gate:Loss.of", property="a method")
def test_method():
    assert gate.Loss().of([1, 2]) == 6


@pytest.mark.guards("gate:later", property="a coroutine, by a test that is none")
def test_coroutine():
    import asyncio
    assert asyncio.run(gate.later(4)) is True and asyncio.run(gate.later(3)) is False


@pytest.mark.filterwarnings("default")
def test_last():
    assert gate.masked([1], ["user"]) == [-100]
    warnings.warn("from the last", UserWarning)
"""


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }


def _told(lines: list[str]) -> list[str]:
    """Return what a session says, without its times and without what it says of guards."""
    end = next((at for at, line in enumerate(lines) if line.startswith("=") and " guards " in line), -1)
    kept = [line for line in [*lines[:end], lines[-1]] if not line.startswith("guards: ")]
    return [re.sub(r"\d+\.\d\ds", "", line).strip("= ") for line in kept]


def test_a_suite_is_the_same_with_guards_and_without(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(gate=MASK, test_rich=RICH, test_weak=WEAK)
    pytester.makeini("[pytest]\nlog_cli = true\nlog_file = said.log\nmarkers = guards: of the plugin, when it is off\n")
    seen: list[tuple[list[str], int, dict[str, bytes]]] = []
    for switch in ((), ("-p", "affidavit.pytest_plugin")):
        for left in (*pytester.path.glob("base/**/*"), pytester.path / "said.log"):
            if left.is_file():
                left.unlink()
        base = f"--basetemp={pytester.path / 'base'}"
        result = pytester.runpytest_inprocess("-v", "-p", "no:cacheprovider", base, *switch)
        folder = {name: text for name, text in _tree(pytester.path).items() if name != "said.log"}
        log = len((pytester.path / "said.log").read_text().splitlines())
        seen.append((_told(result.outlines), log, folder))
    bare, guarded = seen
    assert guarded[0] == bare[0]
    assert guarded[1:] == bare[1:]
    assert bare[0][-1].startswith("12 passed, 1 warning, 3 subtests passed")


def test_whatever_a_test_is_made_of_it_can_be_asked(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(gate=MASK, test_rich=RICH)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *ON, "-v")
    assert result.ret == 0, result.stdout.str()
    text = result.stdout.str()
    assert "ERROR " not in text and "INERT" not in text and "NOT-REACHED" not in text
    for says in ("by a fixture of the session", "with everything", "unittest", "in a subtest", "subtests"):
        assert re.search(rf"WEAK +test_rich.py::.* \({says}\)", text), says
    assert "guards: 3 proved, 6 WEAK; " in text


def test_a_disarm_that_never_ends_is_ended(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        gate=MASK,
        test_it="""
        import pytest, gate

        @pytest.mark.guards("gate:settled")
        @pytest.mark.parametrize("n", [3, -2])
        def test_it(n):
            assert gate.settled(n) in (0, -2) and gate.settled(3) == 0
        """,
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *ON, "--affidavit-report=said.jsonl")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["guards: 1 proved; 5 of 5 disarms caught, 3 of them by an assertion, *"])


def test_workers_ask_their_own_tests_and_their_answers_are_joined(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(gate=MASK, test_rich=RICH, test_inert=INERT, test_good=GOOD)
    alone = pytester.runpytest_inprocess("-p", "no:cacheprovider", *ON, "--affidavit-report=one.jsonl")
    spread = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", *ON, "-p", "xdist", "-n2", "--affidavit-report=two.jsonl"
    )
    assert alone.ret == spread.ret == 1

    def words(result: pytest.RunResult) -> list[str]:
        return sorted(line for line in result.outlines if re.match(r"(WEAK|INERT|ERROR|NOT-REACHED) ", line))

    assert words(spread) == words(alone)
    counted = [re.sub(r" in .*", "", line) for line in alone.outlines if line.startswith("guards: ")]
    assert counted == [re.sub(r" in .*", "", line) for line in spread.outlines if line.startswith("guards: ")]
    one, two = (sorted(Path(name).read_text().splitlines()) for name in ("one.jsonl", "two.jsonl"))
    assert len(one) == len(two) == 11


def test_an_interrupt_while_disarmed_leaves_the_function_as_it_was(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        gate=MASK,
        test_it="""
        import atexit, pytest, gate
        before = gate.masked.__code__

        @pytest.mark.guards("gate:masked")
        def test_it():
            labels = gate.masked([1], ["user"])
            if labels is None:
                raise KeyboardInterrupt
            if labels == [1]:
                raise SystemExit(7)
            assert labels == [-100]

        atexit.register(lambda: print("whole again:", gate.masked.__code__ is before))
        """,
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *ON)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*KeyboardInterrupt*", "whole again: True"])


def test_a_suite_without_the_marker_loads_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\ndef test_it():\n    assert not [name for name in sys.modules if name.startswith(("
        "'affidavit.mutation', 'affidavit.record', 'affidavit.pytest_plugin.', 'msgspec', 'affidavit.attach'))]\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ON, str(tmp_path)]
    ended = subprocess.run(
        command, cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stdout
    assert "guards" not in ended.stdout
