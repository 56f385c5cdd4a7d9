"""Journals become one record: the last word wins, silence is Unknown with a cause, and nothing is invented."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_world import FLASH, MATH, WORDS, asked, journal, missed, saw

from affidavit.fact.journal import Reading
from affidavit.fact.observation import Cause, Known, Observation, Unknown
from affidavit.fact.term import Method
from affidavit.record.merge import merge
from affidavit.record.record import Fact, Kind, Record

EXECUTED = "attention.executed"


def merged(*readings: Reading, **options: object) -> Record:
    return merge(readings, kind=Kind.RUN, subject="run-1", vocabulary=WORDS, **options)  # type: ignore[arg-type]


def only(record: Record, name: str, *, episode: int = 0) -> Fact:
    (found,) = record.find(name, episode=episode)
    return found


def by_rank(record: Record) -> tuple[Fact, ...]:
    return tuple(fact for fact in record.facts if fact.ranks)


def test_how_many_ranks_there_were_is_a_fact_of_the_run(tmp_path: Path) -> None:
    found = only(merged(journal(tmp_path, saw(EXECUTED, FLASH), world=4)), "run.ranks")
    assert isinstance(found.state, Known) and found.state.value == 4
    assert isinstance(only(merged(), "run.ranks").state, Unknown)


def test_a_request_and_a_result_are_one_fact_with_two_sides(tmp_path: Path) -> None:
    record = merged(journal(tmp_path, asked("adapter.targets", ("q", "v")), saw("adapter.targets", ("q",))))
    found = only(record, "adapter.targets")
    assert found.request == Known(("q", "v"), Method.DECLARED, "the script")
    assert isinstance(found.state, Known) and found.state.value == ("q",)
    assert (found.ranks, found.step) == ((0,), 2)


def test_the_last_word_of_an_episode_wins_in_both_directions(tmp_path: Path) -> None:
    later = merged(journal(tmp_path, missed(EXECUTED), saw(EXECUTED, FLASH), saw(EXECUTED, MATH)))
    assert only(later, EXECUTED).state == Known(MATH, Method.EXECUTED, "the model")
    gone = merged(journal(tmp_path, saw(EXECUTED, FLASH), missed(EXECUTED), process="host-2-2"))
    assert only(gone, EXECUTED).state == Unknown(Cause.INSTRUMENT_FAILED, "it raised")


def test_a_request_that_nothing_answered_is_unknown_and_not_its_own_result(tmp_path: Path) -> None:
    found = only(merged(journal(tmp_path, asked("adapter.kind", "lora"))), "adapter.kind")
    assert isinstance(found.state, Unknown) and found.state.cause is Cause.ABSENT
    assert found.request is not None and found.request.value == "lora"


def test_ranks_that_say_the_same_are_one_fact_and_one_that_differs_stands_apart(tmp_path: Path) -> None:
    readings = [
        journal(tmp_path, saw(EXECUTED, MATH if rank == 2 else FLASH), rank=rank, world=4) for rank in (3, 0, 2, 1)
    ]
    record = merged(*readings)
    assert [(fact.ranks, fact.state.value) for fact in record.find(EXECUTED) if isinstance(fact.state, Known)] == [
        ((0, 1, 3), FLASH),
        ((2,), MATH),
    ]


def test_equal_numbers_of_two_types_are_not_one_value(tmp_path: Path) -> None:
    one = journal(tmp_path, saw("tokens.rows_examined", 1), rank=0, world=2)
    two = journal(tmp_path, saw("tokens.rows_examined", 2), rank=1, world=2)
    assert len(merged(one, two).find("tokens.rows_examined")) == 2


def test_a_promise_that_was_not_kept_says_where_the_process_ended(tmp_path: Path) -> None:
    reading = journal(tmp_path, emits=[EXECUTED, "adapter.kind"])
    why = only(merged(reading, steps={reading.process: 1}), EXECUTED).state
    assert why == Unknown(Cause.NOT_REACHED, "the process ended at step 1")
    assert len(by_rank(merged(reading))) == 2


def test_the_last_attempt_says_why_an_answer_never_came(tmp_path: Path) -> None:
    readings = [journal(tmp_path, emits=[EXECUTED], attempt=attempt) for attempt in (0, 1)]
    steps = {reading.process: 10 + reading.attempt for reading in readings}
    state = only(merged(*readings, steps=steps), EXECUTED).state
    assert state == Unknown(Cause.NOT_REACHED, "the process ended at step 11")


def test_a_promise_broken_after_the_sampled_step_is_the_instruments_silence(tmp_path: Path) -> None:
    state = only(merged(journal(tmp_path, emits=[EXECUTED], live=2)), EXECUTED).state
    assert isinstance(state, Unknown) and state.cause is Cause.ABSENT and "step 2" in state.why


@pytest.mark.parametrize("tail", [b'{"kind":"observation","te', b"\xff\xfe garbage\n", b'{"kind":"live"}\n'])
def test_a_lost_line_may_have_been_the_answer(tmp_path: Path, tail: bytes) -> None:
    record = merged(journal(tmp_path, saw("adapter.kind", "lora"), emits=[EXECUTED, "adapter.kind"], tail=tail))
    state = only(record, EXECUTED).state
    assert isinstance(state, Unknown) and state.cause is Cause.JOURNAL_LOST
    assert isinstance(only(record, "adapter.kind").state, Known), "what was written before stays known"
    assert any("(rank 0)" in note for note in record.notes)


def test_a_promise_is_owed_in_every_episode(tmp_path: Path) -> None:
    record = merged(journal(tmp_path, saw(EXECUTED, FLASH), saw("adapter.kind", "lora", episode=1), emits=[EXECUTED]))
    assert record.episodes == 2
    assert isinstance(only(record, EXECUTED, episode=0).state, Known)
    assert isinstance(only(record, EXECUTED, episode=1).state, Unknown)


def test_a_rank_without_a_journal_is_not_invented(tmp_path: Path) -> None:
    record = merged(journal(tmp_path, saw(EXECUTED, FLASH), rank=0, world=2))
    assert record.world == 2
    assert {rank for fact in record.facts for rank in fact.ranks} == {0}


@pytest.mark.parametrize("worlds", [(4, 2), (2, 4)])
def test_the_world_is_the_largest_that_anybody_saw(tmp_path: Path, worlds: tuple[int, int]) -> None:
    held = [journal(tmp_path, rank=rank, world=world) for rank, world in enumerate(worlds)]
    assert merged(*held).world == 4


def test_a_later_attempt_replaces_only_where_it_speaks(tmp_path: Path) -> None:
    first = journal(tmp_path, saw(EXECUTED, FLASH), saw("adapter.kind", "lora"), attempt=0, emits=[EXECUTED])
    requeued = journal(tmp_path, saw("adapter.kind", "none"), attempt=1, emits=[EXECUTED])
    record = merged(requeued, first)
    assert only(record, "adapter.kind").state == Known("none", Method.INSPECTED, "the model")
    assert only(record, EXECUTED).state == Known(FLASH, Method.EXECUTED, "the model")
    assert record.notes == (), "two attempts of one rank are no quarrel"


def test_two_processes_of_one_rank_are_a_note_and_their_quarrel_is_unknown(tmp_path: Path) -> None:
    one = journal(tmp_path, saw(EXECUTED, FLASH), saw("adapter.kind", "lora"), process="host-1-1")
    two = journal(tmp_path, saw(EXECUTED, MATH), saw("adapter.kind", "lora"), process="host-2-2")
    record = merged(one, two)
    assert record.notes == ("attempt 0: host-1-1 and host-2-2 both say that they are rank 0",)
    state = only(record, EXECUTED).state
    assert isinstance(state, Unknown) and state.cause is Cause.RANK_CLAIMED_TWICE
    assert isinstance(only(record, "adapter.kind").state, Known)


def test_two_copies_of_one_journal_are_one_process(tmp_path: Path) -> None:
    for name in ("spool", "run"):
        (tmp_path / name).mkdir()
    published = journal(tmp_path / "run", saw(EXECUTED, MATH), process="host-1-1")
    spooled = journal(tmp_path / "spool", saw(EXECUTED, MATH), saw(EXECUTED, FLASH), process="host-1-1")
    record = merged(published, spooled)
    assert record.notes == ()
    assert only(record, EXECUTED).state == Known(FLASH, Method.EXECUTED, "the model")


def test_without_a_journal_every_rank_term_is_unknown_for_the_reason_given() -> None:
    record = merged(silence=Unknown(Cause.NOTHING_TRAINED, "the script never imported torch"))
    assert {fact.state for fact in record.facts} == {Unknown(Cause.NOTHING_TRAINED, "the script never imported torch")}
    ranked = by_rank(record)
    assert {fact.name for fact in ranked} == {term.name for term in WORDS if term.scope.value == "rank"}
    assert {fact.ranks for fact in ranked} == {(0,)}


def test_a_project_has_no_rank_and_so_no_silent_one() -> None:
    assert merge((), kind=Kind.PROJECT, subject="here", vocabulary=WORDS).facts == ()


@pytest.mark.parametrize(
    ("seen", "note"),
    [
        (
            Observation("acme.reward_kl", saw("adapter.kind", "x").aspect, Known(1, Method.EXECUTED, "acme")),
            "no vocabulary",
        ),
        (Observation(EXECUTED, saw("adapter.kind", "x").aspect, Known(1, Method.EXECUTED, "acme")), "observed as int"),
    ],
    ids=["unknown term", "another type"],
)
def test_what_cannot_be_a_fact_is_a_note(tmp_path: Path, seen: Observation, note: str) -> None:
    record = merged(journal(tmp_path, seen))
    assert by_rank(record) == ()
    assert len(record.notes) == 1 and note in record.notes[0]


def test_a_process_that_never_knew_its_rank_claims_none(tmp_path: Path) -> None:
    reading = Reading(process="host-9-9", opened={"emits": [EXECUTED]})
    record = merged(reading, journal(tmp_path, saw(EXECUTED, FLASH)))
    assert record.notes == ("a process ended before it knew its rank",)
    assert isinstance(only(record, EXECUTED).state, Known)


_VALUES = {EXECUTED: (FLASH, MATH), "adapter.kind": ("lora", "none"), "code.commit": ("a", "b")}
_OBSERVATIONS = st.builds(
    lambda term, which, kind, episode: (
        missed(term, episode=episode)
        if kind == "missed"
        else (saw if kind == "saw" else asked)(term, _VALUES[term][which], episode=episode)
    ),
    st.sampled_from(sorted(_VALUES)),
    st.integers(0, 1),
    st.sampled_from(["saw", "asked", "missed"]),
    st.integers(0, 1),
)
_READINGS = st.lists(
    st.builds(
        lambda rank, attempt, pid, observations, torn: Reading(
            process=f"host-{pid}-0",
            opened={"attempt": attempt, "emits": [EXECUTED]},
            bound={"rank": rank, "world": 3},
            observations=observations,
            torn=torn,
        ),
        st.integers(0, 2),
        st.integers(0, 1),
        st.integers(1, 9),
        st.lists(_OBSERVATIONS, max_size=5),
        st.booleans(),
    ),
    max_size=6,
    unique_by=lambda reading: (reading.attempt, reading.process),
)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(_READINGS, st.randoms(use_true_random=False))
def test_the_order_of_journals_changes_nothing(readings: list[Reading], chance: random.Random) -> None:
    record = merged(*readings)
    shuffled = list(readings)
    chance.shuffle(shuffled)
    assert merged(*shuffled) == record
    places = [(fact.name, fact.episode, rank) for fact in record.facts for rank in fact.ranks or (-1,)]
    assert len(places) == len(set(places)), "a term has one fact at one place"


def test_a_worker_that_an_elastic_launcher_restarted_replaces_itself(tmp_path: Path) -> None:
    first = journal(tmp_path, saw(EXECUTED, MATH), process="host-1-1")
    second = journal(tmp_path, saw(EXECUTED, FLASH), process="host-2-2", restart=1)
    record = merged(second, first)
    assert only(record, EXECUTED).state == Known(FLASH, Method.EXECUTED, "the model")
    assert not any("both say" in note for note in record.notes)
