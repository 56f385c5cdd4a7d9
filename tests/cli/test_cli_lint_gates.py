"""Inert gates on the command line: in lint, in its SARIF, in explain, and in a run that a launcher starts."""

from __future__ import annotations

import json

from tests.cli.desk import Desk

INERT = "set -e\npytest || true\npython train.py\n"


def verdicts(document: dict[str, object]) -> dict[str, str]:
    findings = document["findings"]
    assert isinstance(findings, list)
    return {one["check"]: one["verdict"] for one in findings}


def test_lint_names_the_rule_and_the_right_form(project: Desk) -> None:
    (project.root / "launch.sh").write_text(INERT)
    said = project.type("lint", "launch.sh")
    assert said.exit_code == 1
    assert "launch.sh:2" in said.output
    assert "status-or-true" in said.output
    log = json.loads(project.type("lint", "launch.sh", "--sarif").output)
    (failed,) = (one for one in log["runs"][0]["results"] if one["kind"] == "fail")
    assert failed["ruleId"] == "gates-can-say-no"
    assert failed["locations"][0]["physicalLocation"]["region"]["startLine"] == 2


def test_lint_reads_makefiles_and_is_quiet_where_a_gate_can_say_no(project: Desk) -> None:
    (project.root / "Makefile").write_text("test:\n\tpytest\n")
    assert verdicts(project.document("lint", "Makefile"))["gates-can-say-no"] == "PASS"
    (project.root / "Makefile").write_text("test:\n\t-pytest\n")
    assert verdicts(project.document("lint", "Makefile"))["gates-can-say-no"] == "FAIL"


def test_a_rule_is_explained_with_both_forms(project: Desk) -> None:
    said = project.type("explain", "status-or-true")
    assert said.exit_code == 0
    assert "pytest || true" in said.output
    assert "pytest || exit 1" in said.output
    (rule,) = project.document("explain", "status-or-true")["rules"]
    assert rule["section"] == "4.6"


def test_explain_names_the_rules_where_it_knows_no_such_name(project: Desk) -> None:
    said = project.type("explain", "nosuch-rule")
    assert said.exit_code != 0
    assert "a rule of lint" in said.output
    assert "near: status-or-true" in project.type("explain", "status-or-tru").output


def test_a_run_reads_the_launcher_that_it_starts(project: Desk) -> None:
    (project.root / "launch.sh").write_text(
        "set -e\npython -c 'import sys' | cat\npython train_nothing.py | tee log\necho FINISHED\n"
    )
    said = project.start("run", "--tree", "allow", "--reason", "a test", "--", "bash", "launch.sh")
    assert "training-lost-in-pipe" in said.stdout + said.stderr
    assert verdicts(project.document("show"))["alarms-can-say-dead"] == "FAIL"
