"""How long a loop may be silent in each phase: a multiple of the longest that this run has needed, and never less
than a floor.

A limit that is infinite, zero or missing is an alarm that cannot ring, so it is refused where it is said.

Source: nvidia-resiliency-ext (sections with limits of their own, learnt; its ``null`` is infinite); anchors C5.
Blind to: a first evaluation that nobody announced and that takes longer than the floor of a step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from affidavit.attach.heartbeat import Beat, Phase
from affidavit.fact.errors import AffidavitError, refusal

FLOORS: Mapping[Phase, float] = {
    Phase.LOAD: 1800.0,
    Phase.COMPILE: 1800.0,
    Phase.STEP: 300.0,
    Phase.EVALUATION: 1800.0,
    Phase.CHECKPOINT: 900.0,
}
MULTIPLE = 3.0
_NAMES = {
    Phase.LOAD: "what is outside of a training",
    Phase.COMPILE: "the first steps of a training",
    Phase.STEP: "a step",
    Phase.EVALUATION: "an evaluation",
    Phase.CHECKPOINT: "a checkpoint",
}


def shown(seconds: float) -> str:
    """Return a time as a sentence says it."""
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.3g} s"


class BudgetError(AffidavitError):
    """A time limit under which nothing would ever be called stalled, or everything."""


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """How long the silence may last, and why."""

    seconds: float
    words: str


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """The limit of every phase: ``floors`` in seconds, and ``multiple`` of the longest that was seen.

    Raises:
        BudgetError: a phase has none, or one that is not a number of seconds above zero.
    """

    floors: Mapping[Phase, float] = field(default_factory=lambda: FLOORS)
    multiple: float = MULTIPLE
    is_fixed: bool = False

    def __post_init__(self) -> None:
        wrong = [
            f"{phase.name.lower()} {self.floors.get(phase, 'missing')}"
            for phase in Phase
            if not _is_limit(self.floors.get(phase))
        ]
        if not (_is_limit(self.multiple) and self.multiple >= 1):
            wrong.append(f"multiple {self.multiple}")
        if wrong:
            raise BudgetError(
                refusal(
                    subject="time limit",
                    expected="a number of seconds above zero for every phase",
                    saw=", ".join(wrong),
                    means="An alarm with such a limit can never ring, or rings always, so nothing is watched.",
                    action="Say how many seconds may pass without a step.",
                    unaffected="the run",
                )
            )

    def allow(self, beat: Beat) -> Allowance:
        """Return how long a loop may be silent after its last beat."""
        if beat.phase is None:
            return self._longest_floor()
        phases = [beat.phase, *(_unannounced(beat) if beat.phase is Phase.STEP else ())]
        return max((self._of(phase, beat) for phase in phases), key=lambda found: found.seconds)

    def outside(self, what: str = _NAMES[Phase.LOAD]) -> Allowance:
        """Return how long it may take before a training begins, or after it."""
        return self._said(what, self.floors[Phase.LOAD])

    def _of(self, phase: Phase, beat: Beat) -> Allowance:
        longest, floor = beat.longest.get(phase, 0.0), self.floors[phase]
        learnt = 0.0 if self.is_fixed else longest * self.multiple
        if learnt <= floor:
            return self._said(_NAMES[phase], floor, longest)
        of = f" of {beat.steps:,}" if phase is Phase.STEP and beat.steps > 1 else ""
        words = f"{_NAMES[phase]} may take {shown(learnt)}: {self.multiple:g} times the longest{of}, {shown(longest)}"
        return Allowance(seconds=learnt, words=words)

    def _said(self, what: str, floor: float, longest: float = 0.0) -> Allowance:
        so_far = f"; the longest so far took {shown(longest)}" if longest else ""
        return Allowance(seconds=floor, words=f"{what} may take {shown(floor)}{so_far}")

    def _longest_floor(self) -> Allowance:
        floor = max(self.floors.values())
        return Allowance(seconds=floor, words=f"it does not say what it is about, which may take {shown(floor)}")


def within(seconds: float) -> Budgets:
    """Return budgets in which every phase has this limit, whatever was seen.

    Raises:
        BudgetError: no number of seconds above zero.
    """
    return Budgets(floors=dict.fromkeys(Phase, seconds), is_fixed=True)


def _is_limit(seconds: float | None) -> bool:
    return isinstance(seconds, int | float) and math.isfinite(seconds) and seconds > 0


def _unannounced(beat: Beat) -> list[Phase]:
    """Return the phases that this loop was seen in only when they were over: it may be in one of them now."""
    return [
        phase for phase in (Phase.EVALUATION, Phase.CHECKPOINT) if phase in beat.longest and phase not in beat.announced
    ]
