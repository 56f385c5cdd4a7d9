"""Turns findings into a decision. A waiver changes what blocks, and never what was found."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from affidavit.check.finding import Finding, Verdict
from affidavit.fact.observation import Known
from affidavit.fact.term import Method
from affidavit.fact.values import Value
from affidavit.record.record import Fact


@dataclass(frozen=True, kw_only=True)
class Waiver:
    """A person's word that a finding need not block, until a date: ``check`` or ``check@site-fingerprint``."""

    target: str
    reason: str
    author: str
    until: datetime.date

    def covers(self, finding: Finding, as_of: datetime.date) -> frozenset[str]:
        """Return the fingerprints of a finding's sites that are waived; of a finding without sites, its own ""."""
        check, _, fingerprint = self.target.partition("@")
        if as_of > self.until or check != finding.check:
            return frozenset()
        return frozenset(site for site in _sites(finding) if site == fingerprint or not fingerprint)


def _sites(finding: Finding) -> frozenset[str]:
    return frozenset(site.fingerprint for site in finding.sites) or frozenset({""})


@dataclass(frozen=True, kw_only=True)
class Attestation:
    """A person's word for what no instrument can see, dated, and bound to what they looked at.

    It speaks for a ``term`` of the vocabulary, or answers a ``question`` of the project's own; ``words`` are why.
    """

    value: Value
    author: str
    seen: str
    until: datetime.date
    term: str = ""
    question: str = ""
    words: str = ""

    def holds(self, as_of: datetime.date) -> bool:
        return as_of <= self.until

    def fact(self, as_of: datetime.date) -> Fact | None:
        """Return the fact while it is in force; it satisfies only terms that ask for a person's word."""
        if not self.term or not self.holds(as_of):
            return None
        return Fact(name=self.term, state=Known(self.value, Method.ATTESTED, f"{self.author}, who saw {self.seen}"))


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What follows from the findings: what blocks, what was waived, once for each who waived it, and the exit code.

    ``in_force`` are the waivers that hold, whether or not they meet a finding.
    """

    exit_code: int
    blocking: tuple[Finding, ...]
    waived: tuple[tuple[Finding, Waiver], ...]
    expired: tuple[Waiver, ...]
    counts: tuple[tuple[Verdict, int], ...]
    in_force: tuple[Waiver, ...] = ()


def decide(
    findings: Sequence[Finding],
    waivers: Iterable[Waiver],
    *,
    as_of: datetime.date,
    strict: bool = False,
) -> Decision:
    """Return the decision: exit 1 where a FAIL blocks, else 4 where an UNKNOWN does, else 0.

    A finding is waived where all its sites are, by one person or by several; a site that nobody named still blocks.
    No findings at all is 4: an empty set never passes. ``strict`` makes REVIEW block like FAIL.
    """
    held = tuple(waivers)
    failing = {Verdict.FAIL, Verdict.REVIEW} if strict else {Verdict.FAIL}
    blocking: list[Finding] = []
    waived: list[tuple[Finding, Waiver]] = []
    for finding in findings:
        if finding.verdict not in failing | {Verdict.UNKNOWN}:
            continue
        waiving = tuple(waiver for waiver in held if waiver.covers(finding, as_of))
        if _sites(finding) <= frozenset[str]().union(*(waiver.covers(finding, as_of) for waiver in waiving)):
            waived += [(finding, waiver) for waiver in waiving]
        else:
            blocking.append(finding)
    counted = Counter(finding.verdict for finding in findings)
    exit_code = 1 if any(finding.verdict in failing for finding in blocking) else 4 if blocking or not findings else 0
    return Decision(
        exit_code=exit_code,
        blocking=tuple(blocking),
        waived=tuple(waived),
        expired=tuple(waiver for waiver in held if as_of > waiver.until),
        in_force=tuple(waiver for waiver in held if as_of <= waiver.until),
        counts=tuple((verdict, counted[verdict]) for verdict in Verdict if counted[verdict]),
    )
