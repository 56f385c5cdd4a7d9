"""A decision follows from findings; a waiver changes what blocks and never what was found."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from affidavit.case import Need, case_of
from affidavit.check import Finding, Landmine, Site, Verdict
from affidavit.check.engine import reveal
from affidavit.fact.observation import Known
from affidavit.fact.term import Method, Scope, Term
from affidavit.gate import Attestation, Waiver, decide

TODAY = datetime.date(2026, 11, 30)
SITE, OTHER = Site(path="a.py", line=3, key="lr"), Site(path="b.py", line=4, key="lr")
WAIVER = Waiver(target="flash-ran", reason="known", author="ada", until=TODAY)


def found(verdict: Verdict, *sites: Site, check: str = "flash-ran") -> Finding:
    return Finding(check=check, landmine=Landmine.RESULT, verdict=verdict, message="", sites=sites)


@pytest.mark.parametrize(
    ("verdicts", "strict", "exit_code"),
    [
        ((), False, 4),
        ((Verdict.PASS,), False, 0),
        ((Verdict.PASS, Verdict.NOT_APPLICABLE), False, 0),
        ((Verdict.PASS, Verdict.REVIEW), False, 0),
        ((Verdict.PASS, Verdict.REVIEW), True, 1),
        ((Verdict.PASS, Verdict.UNKNOWN), False, 4),
        ((Verdict.REVIEW, Verdict.UNKNOWN), True, 1),
        ((Verdict.UNKNOWN, Verdict.FAIL), False, 1),
        ((Verdict.FAIL, Verdict.PASS), False, 1),
    ],
)
def test_the_exit_code_follows_from_the_worst_that_blocks(
    verdicts: tuple[Verdict, ...], strict: bool, exit_code: int
) -> None:
    assert decide([found(verdict) for verdict in verdicts], [], as_of=TODAY, strict=strict).exit_code == exit_code


def test_nothing_found_is_no_pass() -> None:
    decision = decide([], [WAIVER], as_of=TODAY)
    assert (decision.exit_code, decision.blocking, decision.counts) == (4, (), ())


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.UNKNOWN])
def test_a_waiver_lets_a_finding_pass_the_gate_and_leaves_it_what_it_is(verdict: Verdict) -> None:
    finding = found(verdict, SITE)
    decision = decide([finding], [WAIVER], as_of=TODAY)
    assert (decision.exit_code, decision.blocking) == (0, ())
    assert decision.waived == ((finding, WAIVER),)
    assert decision.waived[0][0].verdict is verdict and decision.counts == ((verdict, 1),)


def test_a_waiver_ends_with_its_day_and_is_told() -> None:
    decision = decide([found(Verdict.FAIL)], [WAIVER], as_of=TODAY + datetime.timedelta(days=1))
    assert (decision.exit_code, decision.waived, decision.expired) == (1, (), (WAIVER,))


def test_a_waiver_of_another_check_covers_nothing() -> None:
    assert decide([found(Verdict.FAIL, check="ranks-agree")], [WAIVER], as_of=TODAY).exit_code == 1


@pytest.mark.guards("affidavit.gate:Waiver.covers", property="a waiver covers what it names and no more")
def test_a_waiver_of_one_site_does_not_cover_another() -> None:
    narrow = replace(WAIVER, target=f"flash-ran@{SITE.fingerprint}")
    assert decide([found(Verdict.FAIL, SITE)], [narrow], as_of=TODAY).exit_code == 0
    assert decide([found(Verdict.FAIL, replace(SITE, line=99, rank=3))], [narrow], as_of=TODAY).exit_code == 0
    for sites in ((OTHER,), (SITE, OTHER), ()):
        assert decide([found(Verdict.FAIL, *sites)], [narrow], as_of=TODAY).exit_code == 1
    assert WAIVER.covers(found(Verdict.FAIL, SITE, OTHER), TODAY) == {SITE.fingerprint, OTHER.fingerprint}
    assert WAIVER.covers(found(Verdict.FAIL, SITE), TODAY + datetime.timedelta(days=1)) == frozenset()
    assert WAIVER.covers(found(Verdict.FAIL, SITE, check="ranks-agree"), TODAY) == frozenset()


def test_two_people_may_waive_a_site_each() -> None:
    """Where one waiver could answer for all sites only, a finding with two could never be waived by name."""
    waivers = [replace(WAIVER, target=f"flash-ran@{site.fingerprint}") for site in (SITE, OTHER)]
    finding = found(Verdict.FAIL, SITE, OTHER)
    decision = decide([finding], waivers, as_of=TODAY)
    assert (decision.exit_code, decision.waived) == (0, tuple((finding, waiver) for waiver in waivers))
    late = [waivers[0], replace(waivers[1], until=TODAY - datetime.timedelta(days=1))]
    assert decide([finding], late, as_of=TODAY).blocking == (finding,)


def test_a_waived_failure_does_not_hide_what_is_unknown() -> None:
    findings = [found(Verdict.FAIL), found(Verdict.UNKNOWN, check="ranks-agree")]
    decision = decide(findings, [WAIVER], as_of=TODAY)
    assert decision.exit_code == 4 and [one.check for one in decision.blocking] == ["ranks-agree"]


def test_a_waiver_that_nothing_needed_is_no_harm_and_no_pass() -> None:
    decision = decide([found(Verdict.PASS)], [WAIVER], as_of=TODAY)
    assert (decision.exit_code, decision.waived) == (0, ())


@pytest.mark.guards("affidavit.gate:Attestation.fact", property="a word ends with its day")
def test_a_persons_word_is_a_fact_until_its_day_and_only_where_it_is_asked_for() -> None:
    word = Attestation(term="acme.licence", value="open", author="ada", seen="the contract", until=TODAY)
    fact = word.fact(TODAY)
    assert fact is not None
    assert fact.state == Known("open", Method.ATTESTED, "ada, who saw the contract")
    assert word.fact(TODAY + datetime.timedelta(days=1)) is None
    assert replace(word, term="", question="May it be used?").fact(TODAY) is None, "an answer is no fact of its own"
    asked = Term("acme.licence", str, "", Scope.RUN, Method.ATTESTED, "what the licence allows")
    for least, satisfied in ((Method.ATTESTED, True), (Method.DECLARED, False), (Method.EXECUTED, False)):
        words = case_of().vocabulary.extended([replace(asked, least=least)], prefix="acme")
        case = case_of(vocabulary=words)
        case = case.with_record("run", case.subject.with_facts([fact]))
        assert (reveal(case, Need.parse("acme.licence")) is None) is satisfied
