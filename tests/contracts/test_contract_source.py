"""The rules of the house hold in every file, each rule sees its own bend, and no file grows past a page or two."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from source_rules import RULES, Rule

PACKAGE = Path(__file__).parents[2] / "src/affidavit"
SOURCES = {
    str(path.relative_to(PACKAGE)): path.read_text()
    for path in PACKAGE.rglob("*.py")
    if not path.is_relative_to(PACKAGE / "demo/scripts")  # they play the user's code
}

LINES = 300
LONGER: dict[str, str] = {}
"""Files that may be longer, each with its reason."""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.says)
def test_the_rule_holds(rule: Rule) -> None:
    offences = rule.offences(SOURCES)
    assert not offences, f"{rule.says}:\n" + "\n".join(offences)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.says)
def test_the_bend_is_seen(rule: Rule) -> None:
    path, text = rule.bend
    assert path not in SOURCES
    offences = rule.offences({**SOURCES, path: text})
    assert any(offence.startswith(f"{path}:") for offence in offences), f"{rule.says}: did not see {text!r}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.says)
def test_every_exception_is_needed(rule: Rule) -> None:
    without = replace(rule, allowed={}).offences(SOURCES)
    for prefix in rule.allowed:
        assert any(offence.startswith(prefix) for offence in without), f"{rule.says}: {prefix} no longer needs to"


def _long(sources: dict[str, str]) -> dict[str, int]:
    return {path: text.count("\n") for path, text in sources.items() if text.count("\n") > LINES}


def test_long_files_have_a_reason() -> None:
    assert sorted(_long(SOURCES)) == sorted(LONGER), f"longer than {LINES} lines, or shorter again: {_long(SOURCES)}"


def test_a_long_file_is_seen() -> None:
    assert "report/planted.py" in _long({**SOURCES, "report/planted.py": "\n" * (LINES + 1)})
