"""A check that could not be trusted does not load; each refusal is bent once and seen red."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from check_world import flash_ran

from affidavit.check import Check, CheckShapeError, Landmine, check
from affidavit.check.load import admit, load
from affidavit.fact.vocabulary import load as load_vocabulary

WORDS = load_vocabulary()


def module(*checks: Check, name: str = "acme_checks") -> ModuleType:
    made = ModuleType(name)
    for number, one in enumerate(checks):
        setattr(made, f"check_{number}", one)
    return made


def test_a_whole_check_is_admitted() -> None:
    rule = flash_ran()
    assert admit([module(rule)], WORDS) == (rule,)


def _no_sabotage(rule: Check) -> None:
    rule.sabotages = []


def _no_example(rule: Check) -> None:
    rule.example = None


def _no_docstring(rule: Check) -> None:
    rule.judge.__doc__ = "  "


def _no_need(rule: Check) -> None:
    rule.needs = ()


def _unknown_need(rule: Check) -> None:
    rule.needs = ("attention.exected",)


def _unknown_need_of_a_role(rule: Check) -> None:
    rule.needs = ("panel/attention.exected",)


def _unknown_condition(rule: Check) -> None:
    rule.when = (("adapter.knd", lambda kind: True),)


@pytest.mark.parametrize(
    ("bend", "complaint"),
    [
        (_no_sabotage, "flash-ran: it has no sabotage, so nobody has seen it fail"),
        (_no_example, "flash-ran: it has no healthy example"),
        (_no_docstring, "flash-ran: it has no docstring"),
        (_no_need, "flash-ran: it needs nothing, so it examines nothing"),
        (_unknown_need, 'flash-ran: it needs "attention.exected", which is not in the vocabulary'),
        (_unknown_need_of_a_role, 'flash-ran: it needs "panel/attention.exected", which is not in the vocabulary'),
        (_unknown_condition, 'flash-ran: it needs "adapter.knd", which is not in the vocabulary'),
    ],
)
def test_each_lack_is_refused_by_name(bend: Callable[[Check], None], complaint: str) -> None:
    rule = flash_ran()
    bend(rule)
    with pytest.raises(CheckShapeError) as caught:
        admit([module(rule)], WORDS)
    assert str(caught.value) == f"checks: {complaint}."


def test_all_lacks_come_at_once() -> None:
    rule = flash_ran()
    for bend in (_no_sabotage, _no_example, _no_docstring):
        bend(rule)
    with pytest.raises(CheckShapeError) as caught:
        admit([module(rule), module(name="acme_empty")], WORDS)
    for part in ("no sabotage", "no healthy example", "no docstring", "acme_empty registers no check"):
        assert part in str(caught.value)


def test_a_module_that_registers_nothing_is_refused() -> None:
    empty = module(name="acme_checks.misspelt")
    empty.chek = lambda case: None  # type: ignore[attr-defined]
    with pytest.raises(CheckShapeError, match=r"acme_checks\.misspelt registers no check; a misspelt decorator"):
        admit([module(flash_ran()), empty], WORDS)


def test_an_id_stands_once() -> None:
    with pytest.raises(CheckShapeError, match="flash-ran: two checks have this id"):
        admit([module(flash_ran()), module(flash_ran(), name="other")], WORDS)
    with pytest.raises(CheckShapeError, match="flash-ran: two checks have this id"):
        admit([module(flash_ran())], WORDS, known=[flash_ran()])


def test_an_empty_set_passes_nothing() -> None:
    with pytest.raises(CheckShapeError, match="there is no check at all"):
        admit([], WORDS)


@pytest.mark.parametrize("id", ["Flash-ran", "flash_ran", "flash ran"])
def test_an_id_is_kebab_case(id: str) -> None:
    with pytest.raises(CheckShapeError, match="kebab-case"):
        check(id, needs=("attention.executed",), landmine=Landmine.RESULT, unaffected="x")


def test_a_package_is_loaded_module_by_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "acme_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "whole.py").write_text("from check_world import flash_ran\n\nRULE = flash_ran()\n")
    monkeypatch.syspath_prepend(tmp_path)
    acme = __import__("acme_package")
    try:
        assert [rule.id for rule in load(acme, WORDS)] == ["flash-ran"]
        (package / "empty.py").touch()
        with pytest.raises(CheckShapeError, match=r"acme_package\.empty registers no check"):
            load(acme, WORDS)
    finally:
        for name in [name for name in sys.modules if name.startswith("acme_package")]:
            del sys.modules[name]
