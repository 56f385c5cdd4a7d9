"""How a check is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from affidavit.case import Case, Need
from affidavit.check.finding import Landmine, Outcome, Verdict
from affidavit.fact.errors import AffidavitError
from affidavit.fact.term import Vocabulary
from affidavit.fact.values import Value

Judge = Callable[[Case], Outcome]
Condition = tuple[str, Callable[[Value], bool]]
Break = Callable[[Case], Case]


class CheckShapeError(AffidavitError):
    """A check lacks something without which it could not be trusted: its sabotage, its example, its docstring."""


@dataclass(frozen=True)
class Sabotage:
    """A named way to break a passing case, and the verdict that shows it was caught."""

    name: str
    apply: Break
    expect: Verdict


@dataclass
class Check:
    """One rule. Built by :func:`check`; ``healthy`` and ``sabotage`` are its decorators."""

    id: str
    needs: tuple[str, ...]
    when: tuple[Condition, ...]
    landmine: Landmine
    unaffected: str
    judge: Judge
    example: Callable[[], Case] | None = None
    sabotages: list[Sabotage] = field(default_factory=list)

    @property
    def explanation(self) -> str:
        return (self.judge.__doc__ or "").strip()

    @property
    def reads(self) -> tuple[str, ...]:
        """Every need of the check, conditions first."""
        return (*(need for need, _ in self.when), *self.needs)

    def healthy(self, build: Callable[[], Case]) -> Callable[[], Case]:
        """Name the smallest case on which this check passes."""
        self.example = build
        return build

    def sabotage(self, name: str, *, expect: Verdict = Verdict.FAIL) -> Callable[[Break], Break]:
        """Add a way in which the case can lie; ``expect`` is REVIEW where the lie is a default nobody confirmed."""

        def add(apply: Break) -> Break:
            self.sabotages.append(Sabotage(name, apply, expect))
            return apply

        return add

    def complaints(self, vocabulary: Vocabulary) -> tuple[str, ...]:
        """Return everything for which ``load`` refuses this check."""
        found: list[str] = []
        if not self.explanation:
            found.append("it has no docstring")
        if self.example is None:
            found.append("it has no healthy example")
        if not self.sabotages:
            found.append("it has no sabotage, so nobody has seen it fail")
        if not self.needs:
            found.append("it needs nothing, so it examines nothing")
        for need in self.reads:
            name = Need.parse(need).name
            if name != "*" and name not in vocabulary:
                found.append(f'it needs "{need}", which is not in the vocabulary')
        return tuple(found)


def check(
    id: str,
    *,
    needs: Sequence[str],
    landmine: Landmine,
    unaffected: str,
    when: Sequence[Condition] = (),
) -> Callable[[Judge], Check]:
    """Make a check of a pure function ``Case -> Outcome``.

    Args:
        id: kebab-case, the property that holds, never the failure.
        needs: terms (under a role where they are another record's) that must be known before the body runs;
            ``lock/*`` needs every term that record holds, on both sides.
        landmine: the line of the checklist it stands under.
        unaffected: what a reader may keep trusting when it fails.
        when: ``(term, predicate)`` pairs; the check is NOT_APPLICABLE where a predicate is false of a *known* fact.
    """
    if id != id.lower() or "_" in id or " " in id:
        raise CheckShapeError(f'check "{id}": expected kebab-case.')

    def decorate(judge: Judge) -> Check:
        return Check(id, tuple(needs), tuple(when), landmine, unaffected, judge)

    return decorate
