"""What the house's own checks say where a healthy run looks odd, or a sick one looks well."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import affidavit.checks
from affidavit.case import Case, case_of
from affidavit.check import Finding, Verdict, drill, owed, run
from affidavit.check.load import load
from affidavit.fact.values import Layers, Tally, Value
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.record.record import Kind, Record

CHECKS = {check.id: check for check in load(affidavit.checks, load_vocabulary())}


def judged(name: str, case: Case) -> Finding:
    return run(CHECKS[name], case)


def attended(asked: str, configured: str, ran: Mapping[str, int], *, ranks: int = 1) -> Case:
    facts: dict[str, Value] = {
        "attention.requested": asked,
        "attention.configured": Layers.of({f"layers.{layer}.attn": configured for layer in range(2)}),
        "attention.executed": Tally.count("calls", ran),
    }
    return case_of(run=facts, ranks=ranks)


@pytest.mark.parametrize(
    ("asked", "configured", "ran", "requested", "consistent"),
    [
        ("flash_attention_2", "kernels-community/flash-attn2", "flash", Verdict.PASS, Verdict.PASS),
        ("kernels-community/flash-attn3", "kernels-community/flash-attn3", "flash", Verdict.PASS, Verdict.PASS),
        ("flash_attention_2", "kernels-community/flash-attn2", "math", Verdict.FAIL, Verdict.FAIL),
        ("sdpa", "kernels-community/flash-attn2", "flash", Verdict.FAIL, Verdict.PASS),
        ("eager", "kernels-community/flash-attn2", "flash", Verdict.FAIL, Verdict.PASS),
        ("flash_attention_2", "flash_attention_3", "flash", Verdict.FAIL, Verdict.PASS),
        ("ring_of_mine", "ring_of_mine", "flash", Verdict.UNKNOWN, Verdict.UNKNOWN),
        ("ring_of_mine", "sdpa", "flash", Verdict.FAIL, Verdict.PASS),
    ],
)
def test_a_promise_that_nobody_knows_is_neither_kept_nor_broken(
    asked: str, configured: str, ran: str, requested: Verdict, consistent: Verdict
) -> None:
    case = attended(asked, configured, {ran: 2})
    assert judged("attention-as-requested", case).verdict is requested
    assert judged("attention-consistent", case).verdict is consistent


def test_an_unknown_promise_on_one_rank_hides_no_broken_one_on_another() -> None:
    mine = Layers.of({"layers.0.attn": "mine"})
    case = attended("sdpa", "sdpa", {"eager": 2}, ranks=2)
    case = case.altered("attention.requested", "mine", rank=0).altered("attention.configured", mine, rank=0)
    assert judged("attention-as-requested", case).verdict is Verdict.FAIL
    assert judged("attention-consistent", case).verdict is Verdict.FAIL


def test_a_waiver_by_site_outlasts_another_count() -> None:
    few, many = (judged("attention-as-requested", attended("sdpa", "sdpa", {"eager": calls})) for calls in (2, 48))
    assert [site.fingerprint for site in few.sites] == [site.fingerprint for site in many.sites]
    assert [site.key for site in few.sites] == ["eager"] and "48 eager calls" in many.message


def test_what_one_rank_asked_to_adapt_is_held_against_what_matched_there() -> None:
    case = CHECKS["adapter-targets-matched"].example()  # type: ignore[misc]
    astray = case.asked("adapter.targets", ("q_proj", "v_proj", "v_prj"), rank=-1)
    finding = judged("adapter-targets-matched", astray)
    assert finding.verdict is Verdict.FAIL
    assert [(site.key, site.rank) for site in finding.sites] == [("v_prj", 1)]


@pytest.mark.parametrize(
    "held",
    [
        {"adapter.kind": "none"},
        {"attention.configured": Layers.of({"layers.0.attn": "sdpa"})},
        {"attention.kernels": ("flash",), "adapter.kind": "lora"},
    ],
    ids=lambda held: ", ".join(held),
)
@pytest.mark.parametrize(("name", "role"), [("lock-holds", "lock"), ("expectations-hold", "expected")])
def test_whatever_is_held_can_be_broken(name: str, role: str, held: Mapping[str, Value]) -> None:
    """A lock of a plain loop holds no names, and its drill must not end in an error of ours."""
    drilled = drill(CHECKS[name], case_of(run=held, ranks=2, **{role: held}))
    assert drilled.caught and not [part for part in drilled.unread if "/" not in part and part not in held]


def test_expectations_of_a_run_are_not_owed_by_the_project_alone() -> None:
    case = case_of(run={"adapter.kind": "none"}, expected={"adapter.kind": "lora"})
    assert owed(CHECKS["expectations-hold"], case)
    assert judged("expectations-hold", case).verdict is Verdict.FAIL
    project = case_of(run={}, expected={"adapter.kind": "lora"})
    subject = Record(kind=Kind.PROJECT, subject="p", facts=(), vocabulary=project.vocabulary)
    assert not owed(CHECKS["expectations-hold"], project.with_record("run", subject))
