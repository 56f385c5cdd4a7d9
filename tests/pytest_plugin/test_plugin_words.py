"""A planted inert test is called INERT while the suite and the coverage tool are green; a good guard is PROVED."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from projects import GOOD, IMPERSONATION, INERT, LOSS, MASK, MISSPELT, NEVER, WEAK

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load the plugins that are named and no others: there are dozens around here, and each run would pay."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(gate=MASK)
    pytester.makepyprojecttoml(
        "[tool.pytest.ini_options]\nfilterwarnings = ['error']\naddopts = ['--strict-markers']\n"
    )
    return pytester


ON = ("-p", "affidavit.pytest_plugin")


def _run(pytester: pytest.Pytester, *given: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *ON, *given)


def _line(result: pytest.RunResult) -> str:
    return next((line for line in result.outlines if line.startswith("guards: ")), "")


def test_an_inert_test_is_called_so_while_all_else_is_green(project: pytest.Pytester) -> None:
    project.makepyfile(test_inert=INERT)
    covered = ("-p", "pytest_cov", "--cov=gate", "--cov-branch", "--cov-report=term-missing")
    bare = _run(project, "--affidavit-guards=off", *covered)
    assert bare.ret == 0
    (before,) = [line for line in bare.outlines if line.startswith("gate.py")]
    result = _run(project, *covered)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "INERT *test_inert.py::test_inert guards gate:masked (the user's words are not learnt)",
            "*No assertion failed*",
        ]
    )
    assert before in result.outlines, "what the disarmed program reached is nobody's coverage"


def test_a_loss_that_masks_nothing_is_seen_by_one_test_of_two(project: pytest.Pytester) -> None:
    """The landmine itself: the mask is gone, the loss is finite, and a test that asks for no more is green."""
    project.makepyfile(loss=LOSS, test_loss=IMPERSONATION)
    result = project.runpytest_subprocess("-p", "no:cacheprovider", *ON)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "INERT *test_looks_fine guards loss:MaskedLoss.forward (mask covers impersonation)",
            "*statement: labels = labels.masked_fill(banned, IGNORED) → pass",
            "*table: BANNED → ()",
            "guards: 1 proved, 1 INERT; *",
        ]
    )


def test_a_good_guard_is_one_line(project: pytest.Pytester) -> None:
    project.makepyfile(test_good=GOOD)
    result = _run(project)
    assert result.ret == 0
    assert re.fullmatch(
        r"guards: 1 proved; (\d+) of \1 disarms caught, \d+ of them by an assertion, in \d\.\d\d s", _line(result)
    )
    assert "= guards =" not in result.stdout.str()


def test_every_word_has_its_reason_and_its_exit_code(project: pytest.Pytester) -> None:
    project.makepyfile(test_weak=WEAK, test_good=GOOD)
    weak = _run(project)
    assert weak.ret == 0, "a weak guard is told and ends nothing"
    weak.stdout.fnmatch_lines(
        [
            "WEAK *test_weak.py::test_weak guards gate:masked",
            "*gate.py:7: if len(labels) != len(roles):",
            "*condition-never: len(labels) != len(roles) → False",
            "*gate.py:8: 1 more, on lines that this test never runs",
            "guards: 1 proved, 1 WEAK; *",
        ]
    )
    project.makepyfile(test_never=NEVER, test_misspelt=MISSPELT)
    for alone, said in (("never", "NOT-REACHED *"), ("misspelt", '*there is no "mask" in gate; did you mean "masked"')):
        result = _run(project, f"test_{alone}.py")
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines([said])
        assert _run(project, f"test_{alone}.py", "--affidavit-guards=tell").ret == 0
        silent = _run(project, f"test_{alone}.py", "--affidavit-guards=off")
        assert silent.ret == 0 and not _line(silent)


def test_a_marker_that_says_nothing_is_wrong(project: pytest.Pytester) -> None:
    project.makepyfile(
        'import pytest\n@pytest.mark.guards("json:dumps", properly="x")\ndef test_it():\n    assert 1\n'
        "@pytest.mark.guards()\ndef test_that():\n    assert 1\n"
        '@pytest.mark.guards("math:sqrt")\ndef test_c():\n    assert 1\n'
    )
    result = _run(project)
    assert result.ret == 1
    result.stdout.fnmatch_lines(['*expected guards("module:function"*', "*sqrt is a builtin_function_or_method*"])


def test_tests_that_could_not_be_asked_are_told_and_end_nothing(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest, gate
        pytestmark = pytest.mark.guards("gate:masked")

        @pytest.mark.skip(reason="not today")
        def test_skipped(): ...

        @pytest.mark.xfail(reason="known")
        def test_expected(): assert gate.masked([1], ["a"]) == [2]

        @pytest.mark.xfail(run=False, reason="no")
        def test_not_run(): ...

        async def test_async(): ...

        @pytest.mark.parametrize("n", [0, 1])
        def test_half(n):
            if n: pytest.skip("half")
            assert gate.masked([1], ["user"]) == [-100]
        """
    )
    result = _run(project, "-W", "ignore", "-k", "not async")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*it was skipped: not today", "*it was xfailed: known", "*it was xfailed: *"])
    result.stdout.fnmatch_lines(["WEAK *test_half guards gate:masked"])
    result = _run(project, "-k", "async")
    result.stdout.fnmatch_lines(["*an async test is not run again: its loop is another plugin's"])


def test_a_test_that_failed_is_the_suites_business(project: pytest.Pytester) -> None:
    project.makepyfile(
        'import pytest, gate\n@pytest.mark.guards("gate:masked")\ndef test_it():\n    assert gate.masked([], []) == 1'
    )
    result = _run(project)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*it failed in the suite*"])
    result = _run(project, "-x")
    assert result.ret == 1 and not result.parseoutcomes().get("errors")


def test_a_test_that_passes_once_only_proves_nothing(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest, gate
        seen = []

        @pytest.mark.guards("gate:masked")
        def test_once():
            seen.append(gate.masked([1], ["user"]))
            assert seen == [[-100]]

        kept = []

        @pytest.mark.guards("gate:masked")
        def test_leaves():
            kept.extend(gate.masked([1], ["user"]))
            assert set(kept) == {-100}
        """
    )
    result = _run(project)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["*it passed in the suite and not by itself (AssertionError: *", "*a disarm left something*"]
    )


def test_the_ledger_says_what_was_proved_on_which_code(project: pytest.Pytester) -> None:
    project.makepyfile(test_weak=WEAK, test_good=GOOD, test_inert=INERT)
    result = _run(project, "--affidavit-report")
    lines = [json.loads(line) for line in Path("instruments.jsonl").read_text().splitlines()]
    assert "; 3 lines in " in _line(result)
    good, inert, weak = lines
    assert (good["kind"], good["word"], good["says"]) == ("guard", "PROVED", "the user's words are not learnt")
    assert good["caught"] == good["total"] > 5 and inert["caught"] == 0 < weak["caught"] < weak["total"]
    assert "gate.py:8 refusal" in weak["missed"]
    assert good["on"]["function"] == weak["on"]["function"] != good["on"]["test"] != weak["on"]["test"]
    project.makepyfile(gate=MASK.replace('"ragged"', '"ragged rows"'))
    _run(project, "--affidavit-report=kept.jsonl", "test_good.py")
    (again,) = [json.loads(line) for line in Path("kept.jsonl").read_text().splitlines()]
    assert again["on"]["function"] != good["on"]["function"] and again["on"]["test"] == good["on"]["test"]


def test_a_file_for_the_report_is_not_a_test(project: pytest.Pytester) -> None:
    project.makepyfile(test_good=GOOD)
    result = _run(project, "--affidavit-report", "test_good.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*write --affidavit-report=FILE*"])
    result = _run(project, "-o", "affidavit_guard_seconds=soon")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_time_that_ran_out_is_no_proof(project: pytest.Pytester) -> None:
    project.makepyfile(test_good=GOOD)
    result = _run(project, "-o", "affidavit_guard_seconds=0.000001")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["ERROR *", "*no time for * more disarms"])
