"""Findings as a page shows them: what was expected, what was seen, what it means, and what stays trustworthy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from affidavit.check.finding import Finding, Landmine, Verdict
from affidavit.record.ledger import Drilled
from affidavit.report.absence import Absence
from affidavit.report.checklist import mark_of
from affidavit.report.known import counted
from affidavit.report.page.said import cut
from affidavit.report.statement import Statement

_SITES = 50


@dataclass(frozen=True, kw_only=True)
class Told:
    """A verdict with its sign, so that nothing is said by colour alone."""

    word: str
    mark: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One finding. ``says`` stands where nothing was contradicted."""

    anchor: str
    check: str
    told: Told
    about: str
    expected: str = ""
    saw: str = ""
    means: str = ""
    action: str = ""
    says: str = ""
    unaffected: str
    sites: tuple[tuple[str, str], ...]
    more_sites: int
    accept: str
    proved: str
    waived: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Headline:
    """What a reader must hear first: a verdict, of what, and where on the page it stands."""

    told: Told
    anchor: str
    name: str
    said: str


def first(
    statement: Statement, fails: Iterable[Entry], reviews: Iterable[Entry], missing: Iterable[Absence]
) -> Headline | None:
    """Return what blocks first, else that all is well; None where nothing was judged, which is no pass."""
    blocking = [*_waiting(fails, waived=False), *_unanswered(missing), *_waiting(reviews, waived=False)]
    waived = _waiting((*fails, *reviews), waived=True)
    return next(iter((*blocking, *waived, *_well(statement))), None)


def _well(statement: Statement) -> Iterator[Headline]:
    held = len({finding.check for finding in statement.findings if finding.verdict is Verdict.PASS})
    if held:
        verb = "holds" if held == 1 else "hold"
        said = f"{verb}; nothing failed, nothing waits for a review, nothing is unknown"
        yield Headline(told=told(Verdict.PASS), anchor="h-lines", name=counted(held, "check"), said=said)


def _waiting(found: Iterable[Entry], *, waived: bool) -> Iterator[Headline]:
    for entry in found:
        if bool(entry.waived) is waived:
            said = f"{'waived, ' if waived else ''}saw {entry.saw or entry.says}"
            yield Headline(told=entry.told, anchor=entry.anchor, name=entry.check, said=said)


def _unanswered(missing: Iterable[Absence]) -> Iterator[Headline]:
    causes = tuple(missing)
    checks = dict.fromkeys(check for cause in causes for check in cause.checks)
    if checks:
        more = f", and {counted(len(causes) - 1, 'other cause')}" if len(causes) > 1 else ""
        said = f"{'has' if len(checks) == 1 else 'have'} no answer: {causes[0].cause.value}{more}"
        yield Headline(told=told(Verdict.UNKNOWN), anchor="findings", name=counted(len(checks), "check"), said=said)


def told(verdict: Verdict) -> Told:
    """Return how a verdict is written on a page."""
    return Told(word=verdict.value, mark=mark_of(verdict).text, kind=verdict.name.lower())


def entries(statement: Statement, verdict: Verdict, *, is_shared: bool = False) -> tuple[Entry, ...]:
    """Return the findings of one verdict in the order of the landmines."""
    order = tuple(Landmine)
    chosen = [finding for finding in statement.findings if finding.verdict is verdict]
    ranked = sorted(chosen, key=lambda finding: order.index(finding.landmine))
    return tuple(_entry(statement, finding, place, is_shared) for place, finding in enumerate(ranked))


def _entry(statement: Statement, finding: Finding, place: int, is_shared: bool) -> Entry:
    episode = f", training {finding.episode + 1}" if statement.case.subject.episodes > 1 else ""
    said = asdict(finding.contradiction) if finding.contradiction else {"says": finding.message}
    to_accept = finding.verdict is Verdict.REVIEW and statement.is_run and not is_shared
    return Entry(
        anchor=f"{finding.verdict.name.lower()}-{place + 1}",
        check=finding.check,
        told=told(finding.verdict),
        about=f"{finding.landmine.section} {finding.landmine.title}{episode}",
        unaffected=finding.unaffected,
        # A fingerprint is a digest of a path: it can be guessed, so no shared copy has it.
        sites=tuple((str(site), "" if is_shared else site.fingerprint) for site in finding.sites[:_SITES]),
        more_sites=max(len(finding.sites) - _SITES, 0),
        accept=f"affidavit accept {statement.title}" if to_accept else "",
        proved=proved(statement.drills.get(finding.check)),
        waived=_waived(statement, finding),
        **{name: cut(part) for name, part in said.items()},
    )


def _waived(statement: Statement, finding: Finding) -> tuple[str, ...]:
    waivers = (waiver for found, waiver in statement.decision.waived if found == finding)
    return tuple(f"waived by {waiver.author} until {waiver.until}: {waiver.reason}" for waiver in waivers)


def proved(drill: Drilled | None) -> str:
    """Say when a check was last seen to fail, and how well."""
    if drill is None:
        return "never drilled"
    what = "proved able to fail on" if drill.is_proof else "drilled on"
    return f"{what} {drill.date}, {drill.caught} of {drill.total} sabotages caught"


def joined(texts: Iterable[str]) -> str:
    return "; ".join(texts)
