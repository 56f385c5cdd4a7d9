"""A rule: one way in which a gate or an alarm cannot say no, where it is seen, and the form that can."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.lint.gates.source import Source

ALARM, GATE = "4.5", "4.6"


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One place at which a rule applies.

    Args:
        said: what is wrong at this very place, where the sentence of the rule is too general.
        is_sure: whether it is proved by the text; otherwise a person looks.
    """

    line: int
    text: str
    said: str = ""
    is_sure: bool = True


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One way to be inert.

    Args:
        id: kebab-case, named for the fault.
        section: 4.5 for alarms, 4.6 for gates.
        wrong: what happens, in one sentence.
        right: the form that can say no.
        bad, good: the shortest example of each.
    """

    id: str
    section: str
    wrong: str
    right: str
    bad: str
    good: str
    find: Callable[[Source], Iterator[Hit]] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Inert:
    """A rule at a place of a project."""

    path: Path
    rule: Rule
    hit: Hit

    @property
    def said(self) -> str:
        return f"{self.hit.said or self.rule.wrong} Right: {self.rule.right}"
