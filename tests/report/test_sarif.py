"""SARIF: what a code host reads, checked with a reader that is not ours."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sarif_pydantic import Sarif
from tests.report.world import healthy, statement

from affidavit.check.finding import Finding, Landmine, Site, Verdict
from affidavit.checks.names_known import names_known
from affidavit.report.sarif import sarif

KINDS = {"FAIL": ("fail", "error"), "REVIEW": ("review", "none"), "UNKNOWN": ("open", "none")}
"""Of each kind the only level that the standard allows it (SARIF 2.1.0 §3.27.10)."""
NOWHERE = [{"physicalLocation": {"artifactLocation": {"uri": "affidavit.toml"}}}]


def log_of(*findings: Finding) -> dict[str, Any]:
    said = replace(statement(healthy(), checks=(names_known,)), findings=findings)
    text = sarif(said)
    assert text.isascii()
    Sarif.model_validate_json(text)
    document: dict[str, Any] = json.loads(text)["runs"][0]
    return document


def finding(verdict: Verdict, *sites: Site, message: str = "names-known: expected a, saw b.") -> Finding:
    return Finding(check="names-known", landmine=Landmine.NAMES, verdict=verdict, message=message, sites=sites)


@pytest.mark.parametrize("verdict", Verdict)
def test_what_is_no_pass_is_a_result_at_a_place_and_every_verdict_is_told(verdict: Verdict) -> None:
    """A code host makes an alert of every result, and rejects the whole log for one that names no file."""
    log = log_of(finding(verdict))
    told = [(one["kind"], one["level"]) for one in log["results"]]
    assert told == ([KINDS[verdict.value]] if verdict.value in KINDS else [])
    assert all(one["message"]["text"] and one["locations"] == NOWHERE for one in log["results"])
    assert log["properties"] == {"verdicts": {"names-known": verdict.value}}


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a#b?c%20.py", "a%23b%3Fc%2520.py"),
        ("../b.py", "../b.py"),
        ("\udcff.py", "%FF.py"),
        ("/\udcff.py", "file:///%FF.py"),
        ("\ud800.py", "%ED%A0%80.py"),
        ("", "affidavit.toml"),
    ],
)
def test_a_name_that_is_no_utf_8_has_a_place_as_well(path: str, uri: str) -> None:
    (result,) = log_of(finding(Verdict.FAIL, Site(path=path, key="x", line=-1)))["results"]
    assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": uri}}}]


def test_each_place_is_a_result_with_its_own_words_and_its_fingerprint() -> None:
    first = Site(path="configs/sft main.yaml", line=7, key="SFTConfig(warmup_ratio=)", said="removed")
    second = Site(path="/elsewhere/a.py", line=0, key="TrainingArguments(x=)", said="no such name")
    one, other = log_of(finding(Verdict.FAIL, first, second))["results"]
    place = one["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "configs/sft%20main.yaml"}, "region": {"startLine": 7}}
    assert one["message"]["text"] == "SFTConfig(warmup_ratio=): removed"
    assert other["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "file:///elsewhere/a.py"}}
    assert [result["partialFingerprints"]["affidavit/v1"] for result in (one, other)] == [
        first.fingerprint,
        second.fingerprint,
    ]


def test_a_rule_is_told_once_for_all_its_places() -> None:
    log = log_of(finding(Verdict.FAIL, Site(path="a.py"), Site(path="b.py")))
    rules = log["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["names-known"]
    assert rules[0]["shortDescription"]["text"].startswith("A value can be in range")
