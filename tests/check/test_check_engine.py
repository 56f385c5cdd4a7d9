"""Absence is decided in one place: what was not seen is UNKNOWN with its cause, whatever the check's body would say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from check_world import EXECUTED, FLASH, KERNELS, KIND, MATCHED, flash_ran, healthy

from affidavit.case import Case, case_of
from affidavit.check import Check, Fail, Landmine, Pass, Review, Site, Unproven, Verdict, check, judge, owed, run
from affidavit.check.finding import Outcome
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Method, Scope
from affidavit.fact.values import Tally
from affidavit.record.record import Fact, Kind, Record, ordered


def answering(outcome: Outcome, *needs: str, when: object = ()) -> Check:
    """Return a check that always answers the same, so that only the engine decides."""

    @check("always", needs=needs or (EXECUTED,), landmine=Landmine.RESULT, unaffected="the loss", when=when)  # type: ignore[arg-type]
    def body(case: Case) -> Outcome:
        """It answers the same whatever it sees."""
        return outcome

    return body


def with_state(case: Case, name: str, state: Unknown | Known, ranks: tuple[int, ...] = (0, 1)) -> Case:
    kept = [fact for fact in case.subject.facts if fact.name != name]
    return case.with_record("run", case.subject.with_facts((*kept, Fact(name=name, state=state, ranks=ranks))))


def test_what_the_body_says_of_complete_evidence_is_the_verdict() -> None:
    found = run(flash_ran(), healthy())
    assert (found.verdict, found.examined, found.cites) == (Verdict.PASS, 1, (EXECUTED, KERNELS))
    failing = run(flash_ran(), healthy().altered(EXECUTED, FLASH.moved("flash", "math", 2), rank=1))
    assert failing.verdict is Verdict.FAIL and failing.sites == (Site(key=EXECUTED, rank=1),)
    first, second, last = failing.message.splitlines()
    assert first.startswith("flash-ran: expected flash (the test), saw ")
    assert second == 'It is slow. Run "affidavit explain flash-ran".' and last == "Not affected: the loss."
    said = failing.contradiction
    assert said is not None and failing.message.startswith(f"flash-ran: expected {said.expected}, saw {said.saw}.\n")
    assert (said.means, said.action) == ("It is slow.", 'Run "affidavit explain flash-ran".')


def test_no_value_forges_a_line_of_a_message() -> None:
    forged = "x.\nNot affected: all of it"
    said = run(answering(Fail(expected=forged, saw=forged, means=forged, action=forged)), healthy())
    assert said.message.count("\n") == 2 and said.message.endswith("\nNot affected: the loss.")


@pytest.mark.parametrize(
    ("broken", "cause", "why"),
    [
        (lambda case: case.without(EXECUTED), Cause.ABSENT, "nothing in the record speaks of it"),
        (lambda case: case.without(EXECUTED, rank=1), Cause.RANK_MISSING, "not seen on rank 1 of 2"),
        (
            lambda case: case.downgraded(EXECUTED),
            Cause.BELOW_LEAST,
            "known only as INSPECTED (example); EXECUTED is needed",
        ),
        (
            lambda case: with_state(case, EXECUTED, Unknown(Cause.PROFILER_BUSY, "theirs ran")),
            Cause.PROFILER_BUSY,
            "theirs ran",
        ),
        (lambda case: with_state(case, EXECUTED, Unknown(Cause.COMPILED, "")), Cause.COMPILED, Cause.COMPILED.value),
        (
            lambda case: with_state(case, EXECUTED, Known(FLASH, Method.ATTESTED, "ada")),
            Cause.BELOW_LEAST,
            "known only as ATTESTED",
        ),
    ],
    ids=["never seen", "missing on a rank", "too weak", "unknown", "unknown without words", "a person's word"],
)
def test_incomplete_evidence_is_unknown_with_its_cause(broken: Callable[[Case], Case], cause: Cause, why: str) -> None:
    for body in (Pass(examined=9), Fail(expected="a", saw="b", means="c")):
        found = run(answering(body), broken(healthy()))
        assert (found.verdict, found.cause) == (Verdict.UNKNOWN, cause)
        assert why in found.message and found.message.startswith(f"{EXECUTED}: ")


def test_one_unknown_rank_makes_the_fact_unknown() -> None:
    case = healthy().without(EXECUTED, rank=1)
    lost = Fact(name=EXECUTED, state=Unknown(Cause.JOURNAL_LOST, "torn"), ranks=(1,))
    case = case.with_record("run", case.subject.with_facts((*case.subject.facts, lost)))
    assert run(answering(Pass(examined=1)), case).cause is Cause.JOURNAL_LOST


def test_a_missing_role_is_unknown_and_not_owed() -> None:
    compared = answering(Pass(examined=1), EXECUTED, f"panel/{EXECUTED}")
    assert run(compared, healthy()).message == f"panel/{EXECUTED}: there is no panel record"
    assert not owed(compared, healthy()) and owed(compared, healthy(panel={EXECUTED: FLASH}))


def test_examining_nothing_is_no_pass() -> None:
    found = run(answering(Pass(examined=0)), healthy())
    assert (found.verdict, found.message) == (Verdict.UNKNOWN, "nothing was examined")


def test_evidence_that_decides_nothing_is_unknown() -> None:
    assert run(answering(Unproven("no ragged row")), healthy()).message == "no ragged row"
    assert run(answering(Unproven("no ragged row")), healthy()).verdict is Verdict.UNKNOWN
    assert run(answering(Unproven("no ragged row")), healthy()).cause is Cause.UNDECIDED


def _adapted(outcome: Outcome) -> Check:
    return answering(outcome, MATCHED, when=((KIND, lambda kind: kind != "none"),))


def test_not_applicable_comes_from_a_seen_fact_only() -> None:
    rule = _adapted(Pass(examined=1))
    matched = {MATCHED: Tally.count("modules", {"q": 1})}
    assert run(rule, case_of(run={KIND: "none"})).verdict is Verdict.NOT_APPLICABLE
    assert run(rule, case_of(run={KIND: "none"})).message == "adapter.kind is none"
    assert run(rule, case_of(run={KIND: "lora", **matched})).verdict is Verdict.PASS
    assert run(rule, case_of(run=matched)).verdict is Verdict.UNKNOWN, "nobody saw whether there is an adapter"
    weak = case_of(run={KIND: "none", **matched}).downgraded(KIND)
    assert run(rule, weak).verdict is Verdict.UNKNOWN, "a declared absence is no absence"
    assert run(rule, case_of(run={KIND: "none"}, ranks=2).without(KIND, rank=1)).verdict is Verdict.UNKNOWN


def test_a_condition_that_holds_on_one_rank_applies() -> None:
    case = case_of(run={KIND: "none", MATCHED: Tally.count("modules", {"q": 1})}, ranks=2).altered(KIND, "lora", rank=1)
    assert run(_adapted(Pass(examined=1)), case).verdict is Verdict.PASS


_REVIEW = Review(expected="a choice", saw="a default", means="Nobody chose.", accept=(KERNELS,))


@pytest.mark.parametrize(
    ("lock", "verdict"),
    [
        (None, Verdict.REVIEW),
        ({KERNELS: ("flash",)}, Verdict.PASS),
        ({KERNELS: ("math",)}, Verdict.REVIEW),
        ({KIND: "lora"}, Verdict.REVIEW),
    ],
    ids=["no lock", "the same", "another", "silent"],
)
def test_a_review_passes_once_the_lock_holds_the_same(lock: dict[str, object] | None, verdict: Verdict) -> None:
    case = healthy() if lock is None else healthy(lock=lock)  # type: ignore[arg-type]
    assert run(answering(_REVIEW, KERNELS), case).verdict is verdict


def test_a_review_that_accepts_nothing_never_passes() -> None:
    review = replace(_REVIEW, accept=())
    assert run(answering(review), healthy(lock={KERNELS: ("flash",)})).verdict is Verdict.REVIEW


def test_what_a_record_owes_follows_from_the_scopes_it_has() -> None:
    ranked, on_disk = answering(Pass(examined=1), EXECUTED), answering(Pass(examined=1), "tree.gate")
    project = Case(
        records={"run": Record(kind=Kind.PROJECT, subject="here", facts=(), vocabulary=healthy().vocabulary)},
        as_of=healthy().as_of,
    )
    assert healthy().vocabulary["tree.gate"].scope is Scope.PROJECT
    assert (owed(ranked, project), owed(on_disk, project)) == (False, True)
    assert (owed(ranked, healthy()), owed(on_disk, healthy())) == (True, True)


def test_every_term_of_a_role_is_needed_on_both_sides() -> None:
    rule = answering(Pass(examined=1), "lock/*")
    assert run(rule, healthy(lock={KERNELS: ("flash",)})).cites == (KERNELS, f"lock/{KERNELS}")
    unseen = run(rule, healthy(lock={KERNELS: ("flash",), KIND: "lora"}))
    assert (unseen.verdict, unseen.message) == (Verdict.UNKNOWN, f"{KIND}: nothing in the record speaks of it")


def test_the_wildcard_of_the_subject_needs_every_term_in_which_ranks_must_agree() -> None:
    rule = answering(Pass(examined=1), "*")
    assert run(rule, healthy()).cites == (KERNELS,), "ranks are free to differ in the calls they made"
    gone = run(rule, healthy().without(KERNELS, rank=1))
    assert (gone.verdict, gone.cause) == (Verdict.UNKNOWN, Cause.RANK_MISSING)


def test_every_episode_is_judged_and_a_project_fact_once() -> None:
    case = healthy(ranks=1)
    later = [
        Fact(name=name, state=Known(value, Method.EXECUTED, "x"), ranks=(0,), episode=1)
        for name, value in ((EXECUTED, FLASH.moved("flash", "math", 1)), (KERNELS, ("flash",)))
    ]
    gate = Fact(name="tree.gate", state=Known("refuse", Method.DECLARED, "x"))
    record = replace(case.subject, facts=ordered((*case.subject.facts, *later, gate)), episodes=2)
    found = judge([flash_ran(), answering(Pass(examined=1), "tree.gate")], case.with_record("run", record))
    assert [(one.check, one.episode, one.verdict) for one in found] == [
        ("flash-ran", 0, Verdict.PASS),
        ("always", 0, Verdict.PASS),
        ("flash-ran", 1, Verdict.FAIL),
    ]


def test_an_episode_in_which_nothing_was_seen_is_unknown() -> None:
    case = healthy(ranks=1)
    found = judge([flash_ran()], case.with_record("run", replace(case.subject, episodes=2)))
    assert [one.verdict for one in found] == [Verdict.PASS, Verdict.UNKNOWN]


def test_a_site_is_named_the_same_on_another_line_and_rank() -> None:
    site = Site(path="train.py", line=3, key="warmup_ratio", rank=0)
    assert site.fingerprint == replace(site, line=9, rank=1, step=2).fingerprint
    assert site.fingerprint != replace(site, key="warmup_steps").fingerprint
    assert str(replace(site, step=2)) == "train.py:3, warmup_ratio, rank 0, step 2"
