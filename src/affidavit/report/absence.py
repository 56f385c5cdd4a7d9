"""What is not known, and which checks wait for it: folded by cause, because one cause leaves many facts unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from affidavit.check.finding import Verdict
from affidavit.fact.observation import Cause, Unknown
from affidavit.report.statement import Statement

_WHY = 240


@dataclass(frozen=True, kw_only=True)
class Gap:
    """One thing that is not known: the fact, why, and the check that waits for it where one does."""

    cause: Cause
    fact: str
    why: str
    check: str


@dataclass(frozen=True, kw_only=True)
class Absence:
    """One cause: the facts that it leaves unknown, the checks that it leaves unanswered, and what was said of it."""

    cause: Cause
    facts: tuple[str, ...]
    checks: tuple[str, ...]
    reasons: tuple[str, ...]

    @property
    def fell(self) -> bool:
        """Whether the facts were seen, and taken back since."""
        return self.cause is Cause.FALLS


def absences(statement: Statement) -> tuple[Absence, ...]:
    """Return one entry for each cause for which a check waits."""
    gaps = tuple(_gaps(statement))
    found = []
    for cause in Cause:
        of_cause = [gap for gap in gaps if gap.cause is cause]
        if any(gap.check for gap in of_cause):
            found.append(
                Absence(
                    cause=cause,
                    facts=tuple(dict.fromkeys(gap.fact for gap in of_cause if gap.fact)),
                    checks=tuple(dict.fromkeys(gap.check for gap in of_cause if gap.check)),
                    reasons=tuple(dict.fromkeys(gap.why for gap in of_cause if gap.why not in ("", cause.value))),
                )
            )
    return tuple(found)


def brief(why: str) -> str:
    """Return why something is not known, without the end of a reason that is a page long; the record has it whole.

    One correction can be the reason for every fact there is, and what it says stands once at the head of a report.
    """
    return why if len(why) <= _WHY else f"{why[:_WHY]}… and {len(why) - _WHY:,} more characters"


def _gaps(statement: Statement) -> Iterator[Gap]:
    for finding in statement.findings:
        if finding.verdict is Verdict.UNKNOWN:
            need, _, why = finding.message.partition(": ")
            is_fact = need in finding.cites
            yield Gap(
                cause=finding.cause or Cause.ABSENT,
                fact=need if is_fact else "",
                why=why if is_fact else finding.message,
                check=finding.check,
            )
    for fact in statement.case.subject.facts:
        if isinstance(fact.state, Unknown):
            yield Gap(cause=fact.state.cause, fact=fact.name, why=fact.state.why, check="")
