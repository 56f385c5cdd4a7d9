"""A drill proves that a check can fail, and is itself seen to fail where the check cannot."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from check_world import EXECUTED, FLASH, KERNELS, flash_ran, healthy

from affidavit.case import Case, InertSabotageError
from affidavit.check import Check, Drill, DrillRefusedError, Landmine, Pass, Proof, Sabotage, Verdict, check, drill
from affidavit.check.finding import Outcome
from affidavit.fact.observation import Unknown


def test_every_need_is_taken_away_weakened_and_lost_on_a_rank() -> None:
    found = drill(flash_ran(), healthy())
    assert found.caught and found.unread == ()
    assert {(proof.sabotage, proof.expect) for proof in found.proofs} == {
        ("math ran on the last rank", Verdict.FAIL),
        ("another family is named", Verdict.FAIL),
        *(
            (f"{need} {what}", Verdict.UNKNOWN)
            for need in (EXECUTED, KERNELS)
            for what in ("was never seen", "is known by too weak a method", "is missing on the last rank")
        ),
    }


def test_one_rank_has_no_last_rank_to_lose() -> None:
    assert not any(
        "last rank" in proof.sabotage for proof in drill(_without_ranked_sabotage(), healthy(ranks=1)).proofs
    )


def _without_ranked_sabotage() -> Check:
    rule = flash_ran()
    rule.sabotages = [rule.sabotages[1]]
    return rule


def test_a_needed_role_is_taken_away_too() -> None:
    @check("panel-same", needs=(KERNELS, f"panel/{KERNELS}"), landmine=Landmine.RESULT, unaffected="x")
    def rule(case: Case) -> Outcome:
        """The panel ran the same kernels."""
        return Pass(examined=1)

    found = drill(rule, healthy(panel={KERNELS: ("flash",)}))
    assert ("there is no panel record", Verdict.UNKNOWN, Verdict.UNKNOWN) in {
        (proof.sabotage, proof.expect, proof.got) for proof in found.proofs
    }


def test_a_check_that_fails_already_is_not_drilled() -> None:
    broken = healthy().altered(KERNELS, ("math",))
    with pytest.raises(DrillRefusedError, match="drilled only where it passes; here it says FAIL"):
        drill(flash_ran(), broken)


@pytest.mark.parametrize("broken", [lambda case: case.without(EXECUTED), lambda case: case.downgraded(KERNELS)])
def test_a_case_that_shows_nothing_is_not_drilled_on(broken: Callable[[Case], Case]) -> None:
    with pytest.raises(DrillRefusedError, match="UNKNOWN"):
        drill(flash_ran(), broken(healthy()))


def test_a_check_that_cannot_fail_is_caught_out() -> None:
    rule = flash_ran()
    rule.judge = lambda case: Pass(examined=1)
    found = drill(rule, healthy())
    assert not found.caught
    assert [proof.sabotage for proof in found.proofs if not proof.caught] == [
        "math ran on the last rank",
        "another family is named",
    ]


def test_a_body_that_takes_absence_for_a_fault_is_not_what_was_expected() -> None:
    proof = Proof("gone", Verdict.UNKNOWN, Verdict.FAIL)
    assert not proof.caught, "not a pass is not good enough"


def test_bend_an_engine_that_lets_absence_pass_turns_the_drill_red(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(case: Case, need: object) -> Unknown | None:
        return None

    rule = flash_ran()
    rule.judge = lambda case: Pass(examined=1)
    rule.sabotages = []
    assert drill(rule, healthy()).caught
    monkeypatch.setattr("affidavit.check.engine.reveal", blind)
    assert not drill(rule, healthy()).caught


def test_a_sabotage_that_changes_nothing_is_refused() -> None:
    rule = flash_ran()
    rule.sabotages.append(Sabotage("nothing", lambda case: case.altered(EXECUTED, FLASH), Verdict.FAIL))
    with pytest.raises(InertSabotageError):
        drill(rule, healthy())


def test_a_need_that_no_sabotage_moves_is_listed() -> None:
    assert drill(_without_ranked_sabotage(), healthy()).unread == (EXECUTED,)


def test_a_drill_without_a_proof_caught_nothing() -> None:
    assert not Drill("x", (), ()).caught
