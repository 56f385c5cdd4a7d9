"""Findings for code hosts and editors: SARIF 2.1.0, one result for each place.

Source: OASIS SARIF 2.1.0 §3.27 (result), §3.27.9 (kind): PASS, FAIL, REVIEW and UNKNOWN are kinds of that standard.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import quote

from affidavit import __version__
from affidavit.check.finding import Finding, Site, Verdict
from affidavit.check.rule import Check
from affidavit.report.statement import Statement

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_KINDS = {
    Verdict.FAIL: ("fail", "error"),
    Verdict.REVIEW: ("review", "none"),
    Verdict.UNKNOWN: ("open", "none"),
    Verdict.PASS: ("pass", "none"),
    Verdict.NOT_APPLICABLE: ("notApplicable", "none"),
}
Json = dict[str, object]


def sarif(said: Statement) -> str:
    """Return the findings of a statement as a SARIF log, ASCII only.

    Blind to: facts; ranks, steps and keys stand in the message, since SARIF has places in files only.
    """
    spoken = {finding.check for finding in said.findings}
    driver: Json = {
        "name": "affidavit",
        "version": __version__,
        "rules": [_rule(check) for check in said.checks if check.id in spoken],
    }
    waived = {finding for finding, _ in said.decision.waived}
    results = [result for finding in said.findings for result in _results(finding, finding in waived)]
    run: Json = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, allow_nan=False)


def _rule(check: Check) -> Json:
    text = check.explanation
    return {
        "id": check.id,
        "shortDescription": {"text": text.partition("\n")[0]},
        "fullDescription": {"text": text},
        "properties": {"section": check.landmine.section, "title": check.landmine.title},
    }


def _results(finding: Finding, is_waived: bool) -> Iterator[Json]:
    kind, level = _KINDS[finding.verdict]
    for site in finding.sites or (None,):
        result: Json = {
            "ruleId": finding.check,
            "kind": kind,
            "level": level,
            "message": {"text": _message(finding, site)},
        }
        if site is not None:
            result["partialFingerprints"] = {"affidavit/v1": site.fingerprint}
            if site.path:
                result["locations"] = [_location(site)]
        if is_waived:
            result["suppressions"] = [{"kind": "external"}]
        yield result


def _message(finding: Finding, site: Site | None) -> str:
    if site is not None and site.said:
        return f"{site.key}: {site.said}" if site.key else site.said
    return finding.message or f"{finding.check}: {finding.verdict.value}, {finding.examined} examined"


def _location(site: Site) -> Json:
    path = PurePosixPath(site.path)
    uri = path.as_uri() if path.is_absolute() else quote(site.path)
    physical: Json = {"artifactLocation": {"uri": uri}}
    if site.line:
        physical["region"] = {"startLine": site.line}
    return {"physicalLocation": physical}
