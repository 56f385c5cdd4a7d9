"""Every rule for gates and alarms, by its name."""

from __future__ import annotations

from typing import Final

from affidavit.lint.gates.rule import Rule
from affidavit.lint.gates.rules import alarms, conditions, places, probes, swallowed

RULES: Final[tuple[Rule, ...]] = (
    *(*probes.RULES, *alarms.RULES),
    *(*swallowed.RULES, *conditions.RULES, *places.RULES),
)
BY_ID: Final = {rule.id: rule for rule in RULES}
