"""Findings for code hosts and editors: SARIF 2.1.0, one result for each place of what is no pass.

A code host makes an alert of whatever is a result, and GitHub rejects the whole log for one result that names no file.
So a finding without a place stands at the project's settings, and what passed is told in the properties of the run.

Source: OASIS SARIF 2.1.0 §3.27 (result), §3.27.9 (kind): FAIL, REVIEW and UNKNOWN are kinds of that standard, §3.8
(property bags); github/codeql-action#1738 ("expected at least one location").
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

from affidavit import __version__
from affidavit.check.finding import Finding, Site, Verdict
from affidavit.check.rule import Check
from affidavit.fact.folder import SETTINGS
from affidavit.report.checklist import worst
from affidavit.report.statement import Statement

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_KINDS = {
    Verdict.FAIL: ("fail", "error"),
    Verdict.REVIEW: ("review", "none"),
    Verdict.UNKNOWN: ("open", "none"),
}
_NOWHERE = Site(path=SETTINGS)
"""Where a finding stands that is of the project and of no file in it."""
Json = dict[str, object]


def sarif(said: Statement) -> str:
    """Return what is no pass in a statement as a SARIF log, ASCII only, with the verdict of every check beside it.

    Blind to: facts; ranks, steps and keys stand in the message, since SARIF has places in files only.
    """
    spoken = dict.fromkeys(finding.check for finding in said.findings)
    verdicts = {check: worst(found for found in said.findings if found.check == check).value for check in spoken}
    driver: Json = {
        "name": "affidavit",
        "version": __version__,
        "rules": [_rule(check) for check in said.checks if check.id in spoken],
    }
    waived = {finding for finding, _ in said.decision.waived}
    loud = [finding for finding in said.findings if finding.verdict in _KINDS]
    results = [result for finding in loud for result in _results(finding, finding in waived)]
    run: Json = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "results": results,
        "properties": {"verdicts": verdicts},
    }
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
            "locations": [_location(site if site is not None and site.path else _NOWHERE)],
        }
        if site is not None:
            result["partialFingerprints"] = {"affidavit/v1": site.fingerprint}
        if is_waived:
            result["suppressions"] = [{"kind": "external"}]
        yield result


def _message(finding: Finding, site: Site | None) -> str:
    if site is not None and site.said:
        return f"{site.key}: {site.said}" if site.key else site.said
    return finding.message or f"{finding.check}: {finding.verdict.value}"


def _location(site: Site) -> Json:
    uri = quote(_bytes(site.path))
    physical: Json = {"artifactLocation": {"uri": f"file://{uri}" if site.path.startswith("/") else uri}}
    if site.line > 0:
        physical["region"] = {"startLine": site.line}
    return {"physicalLocation": physical}


def _bytes(path: str) -> bytes:
    """Return the bytes of a file's name, which need not be UTF-8."""
    try:
        return path.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return path.encode(errors="surrogatepass")
