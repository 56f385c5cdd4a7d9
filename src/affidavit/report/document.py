"""The same report for programs: one JSON object, versioned, with every value under its type."""

from __future__ import annotations

import json
from collections.abc import Mapping

from affidavit import __version__
from affidavit.check.finding import Finding, Site
from affidavit.fact.observation import state_to_json
from affidavit.gate import Decision
from affidavit.record.annotation import Annotation
from affidavit.record.record import Fact, Record
from affidavit.report.checklist import Row, checklist
from affidavit.report.contrast import Change
from affidavit.report.difference import Comparison
from affidavit.report.implied import implied
from affidavit.report.standing import standing
from affidavit.report.statement import Statement
from affidavit.report.tokens import Spans

FORMAT = 1

Document = Mapping[str, object]


def encode(document: Document) -> str:
    """Return a document as text: ASCII only, so nothing in it can steer a terminal, and no NaN."""
    return json.dumps({"format": FORMAT, "affidavit": __version__, **document}, indent=1, allow_nan=False)


def statement(said: Statement) -> Document:
    """Return checklist, findings, decision and facts of one judged record."""
    subject = said.case.subject
    return {
        "subject": said.title,
        "kind": subject.kind.value,
        "status": said.status,
        "stands": said.stands,
        "world": subject.world,
        "attached": said.attached if said.is_run else 0,
        "episodes": subject.episodes,
        "as_of": said.case.as_of.isoformat(),
        "checklist": [_row(row) for row in checklist(said)],
        "standing": [
            {"kind": one.kind, "verdict": one.verdict.value, "name": one.name, "said": one.said}
            for one in standing(said)
        ],
        "findings": [_finding(finding) for finding in said.findings],
        "decision": _decision(said.decision),
        "drills": {
            check: {"on": drill.date.isoformat(), "caught": drill.caught, "total": drill.total}
            for check, drill in sorted(said.drills.items())
        },
        "annotations": [annotation(one) for one in said.annotations],
        "roles": sorted(said.case.records),
        "facts": facts(subject),
        "implied": [
            {
                "term": one.fact.name,
                "said": one.said,
                "owner": one.owner,
                "usual": one.is_usual,
                "ranks": list(one.fact.ranks),
                "episode": one.fact.episode,
            }
            for one in implied(subject)
        ],
        "notes": [*subject.notes, *said.ledger.problems],
    }


def annotation(one: Annotation) -> Document:
    """Return a correction for programs."""
    return {
        "number": one.seq,
        "kind": one.kind.value,
        "falls": list(one.falls),
        "survives": list(one.survives),
        "not_reviewed": list(one.not_reviewed),
        "by": one.by,
        "reason": one.reason,
        "author": one.author,
        "date": one.time.date().isoformat(),
    }


def facts(record: Record) -> list[Document]:
    """Return every fact of a record, as requested and as resolved, in the order in which records hold them."""
    return [_fact(fact) for fact in record.facts]


def difference(comparison: Comparison) -> Document:
    """Return how two records differ, every category in full."""
    return {
        "left": comparison.left,
        "right": comparison.right,
        "differences": [_change(change) for change in comparison.changes],
        "one_sided": [{"why": why, "terms": list(names)} for why, names in comparison.one_sided],
        "asked_on_one_side": list(comparison.asked),
        "equal": comparison.equal,
        "unseen": list(comparison.unseen),
        "felled": list(comparison.felled),
    }


def _change(change: Change) -> Document:
    return {
        "term": change.difference.name,
        "category": change.difference.category.value,
        "said": change.said,
        "left": change.difference.left,
        "left_by": change.left_by,
        "right": change.difference.right,
        "right_by": change.right_by,
        "where": list(change.difference.where),
        "moved_with": change.under or None,
    }


def spans(kept: Spans) -> Document:
    """Return the kept tokens, row by row."""
    return {
        "policy": kept.policy,
        "rows": [
            {
                "row": row.number,
                "spans": [
                    {
                        "role": stretch.role,
                        "turn": stretch.turn,
                        "lit": stretch.lit,
                        "tokens": stretch.tokens,
                        "text": stretch.text,
                        "ids": list(stretch.ids),
                    }
                    for stretch in row.stretches
                ],
            }
            for row in kept.rows
        ],
    }


def _fact(fact: Fact) -> Document:
    felled = {} if fact.was is None else {"was": state_to_json(fact.was)}
    return {
        "term": fact.name,
        "resolved": state_to_json(fact.state),
        "requested": None if fact.request is None else state_to_json(fact.request),
        "ranks": list(fact.ranks),
        "episode": fact.episode,
        "step": fact.step,
        **felled,
    }


def _row(row: Row) -> Document:
    return {
        "section": row.landmine.section,
        "title": row.landmine.title,
        "verdict": None if row.verdict is None else row.verdict.value,
        "uncovered": row.uncovered,
        "evidence": list(row.evidence),
        "proved": row.proved,
    }


def _finding(finding: Finding) -> Document:
    return {
        "check": finding.check,
        "section": finding.landmine.section,
        "verdict": finding.verdict.value,
        "message": finding.message,
        **_parts(finding),
        "cites": list(finding.cites),
        "sites": [_site(site) for site in finding.sites],
        "cause": None if finding.cause is None else finding.cause.name,
        "examined": finding.examined,
        "episode": finding.episode,
        "not_affected": finding.unaffected,
    }


def _parts(finding: Finding) -> Document:
    """Return a contradiction part by part, so that no program has to take the message apart."""
    said = finding.contradiction
    names = ("expected", "saw", "means", "action")
    return {name: None if said is None else getattr(said, name) for name in names}


def _site(site: Site) -> Document:
    return {
        "path": site.path,
        "line": site.line,
        "key": site.key,
        "rank": site.rank,
        "step": site.step,
        "said": site.said,
        "fingerprint": site.fingerprint,
    }


def _decision(decision: Decision) -> Document:
    return {
        "exit_code": decision.exit_code,
        "blocking": [finding.check for finding in decision.blocking],
        "waived": [
            {
                "check": finding.check,
                "target": waiver.target,
                "reason": waiver.reason,
                "author": waiver.author,
                "until": waiver.until.isoformat(),
            }
            for finding, waiver in decision.waived
        ],
        "expired": [waiver.target for waiver in decision.expired],
        "counts": {verdict.value: count for verdict, count in decision.counts},
    }
