"""A case is read by roles, ranks and episodes; every lens returns another case or refuses."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from check_world import EXECUTED, FLASH, KERNELS, KIND, healthy

from affidavit.case import Case, InertSabotageError, Need, case_of
from affidavit.fact.encoding import from_json, to_json
from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Method, UnknownTermError
from affidavit.fact.values import Digest, Layers, Series, Table, Tally, Value, another
from affidavit.record.compare import display
from affidavit.record.record import Fact, ordered

MATH = Tally.count("calls", {"math": 4})


def test_a_need_is_a_term_under_a_role() -> None:
    assert Need.parse(EXECUTED) == Need("run", EXECUTED)
    assert Need.parse(f"panel/{EXECUTED}") == Need("panel", EXECUTED)
    assert [str(Need.parse(text)) for text in (EXECUTED, "lock/*")] == [EXECUTED, "lock/*"]
    with pytest.raises(AffidavitError, match=r'one of the roles lock, .* saw "pannel"'):
        Need.parse("pannel/x.y")


def test_ranks_that_say_the_same_answer_together() -> None:
    case = healthy().altered(EXECUTED, MATH, rank=1)
    assert healthy().values(EXECUTED) == (((0, 1), FLASH),)
    assert case.values(EXECUTED) == (((0,), FLASH), ((1,), MATH))
    assert case.value(EXECUTED) == FLASH


def test_an_episode_answers_for_itself() -> None:
    case = healthy(ranks=1)
    later = Fact(name=EXECUTED, state=Known(MATH, Method.EXECUTED, "episode 1"), ranks=(0,), episode=1)
    record = replace(case.subject, facts=ordered((*case.subject.facts, later)), episodes=2)
    case = case.with_record("run", record)
    assert case.value(EXECUTED) == FLASH
    assert replace(case, episode=1).value(EXECUTED) == MATH
    changed = replace(case, episode=1).altered(EXECUTED, FLASH)
    assert changed.value(EXECUTED) == FLASH
    assert case.value(EXECUTED) == FLASH and replace(case, episode=1).source(EXECUTED) == "episode 1"


def test_a_record_with_fewer_trainings_answers_with_its_last() -> None:
    case = healthy(ranks=1)
    first, second = case.subject.facts, tuple(replace(fact, episode=1) for fact in case.subject.facts)
    longer = replace(case.subject, facts=ordered((*first, *second)), episodes=3)
    two = replace(longer, episodes=2)
    case = replace(case.with_record("run", longer), episode=2)
    assert case.values(EXECUTED) == () and case.facts(EXECUTED) == ()
    held = case.with_record("lock", two)
    assert held.value(f"lock/{EXECUTED}") == FLASH
    (difference,) = held.differ(EXECUTED, f"lock/{EXECUTED}")
    assert (difference.left, difference.right) == ("nothing recorded", display(FLASH))


@pytest.mark.parametrize(
    "value",
    [
        *(True, 1, 0.5, "a", Digest("sha256", "0" * 64), ("a",), (), FLASH, Tally("x", ())),
        *(Table(("a",), ((1,),)), Table(("a",), ()), Series((1,), (0.5,), "x"), Layers(()), Layers.of({"a.0": "b"})),
    ],
    ids=repr,
)
def test_a_value_of_any_type_can_be_falsified(value: Value) -> None:
    assert another(value) != value and type(another(value)) is type(value)
    assert from_json(to_json(another(value))) == another(value)


def test_one_rank_may_ask_for_something_else() -> None:
    case = case_of(run={KIND: "lora"}, asked={KIND: "lora"}, ranks=2).asked(KIND, "dora", rank=1)
    assert [case.request(KIND, rank=rank).value for rank in (0, 1)] == ["lora", "dora"]  # type: ignore[union-attr]
    assert case.values(KIND) == (((0, 1), "lora"),)


def test_what_was_asked_stands_beside_what_was_seen() -> None:
    case = case_of(run={KIND: "lora"}, asked={KIND: "dora"})
    assert case.request(KIND) == Known("dora", Method.DECLARED, "example")
    assert case.value(KIND) == "lora"
    assert case.asked(KIND, "lora").request(KIND) == Known("lora", Method.DECLARED, "sabotage")
    assert case_of(run={KIND: "lora"}).request(KIND) is None


def test_an_unknown_has_no_value_to_read() -> None:
    case = healthy()
    unknown = Fact(name=KIND, state=Unknown(Cause.NOT_REACHED, ""), ranks=(0, 1))
    case = case.with_record("run", case.subject.with_facts((*case.subject.facts, unknown)))
    assert case.values(KIND) == () and len(case.facts(KIND)) == 1
    with pytest.raises(InertSabotageError, match="no value to alter"):
        case.altered(KIND, "lora")


def test_a_role_is_compared_in_one_term_only() -> None:
    case = healthy(panel={EXECUTED: MATH})
    (found,) = case.differ(EXECUTED, f"panel/{EXECUTED}")
    assert found.where == ("flash 4 → 0", "math 0 → 4")
    with pytest.raises(AffidavitError, match="the terms differ"):
        case.differ(EXECUTED, f"panel/{KERNELS}")


def test_a_lens_changes_what_it_names_and_nothing_else() -> None:
    case = healthy(panel={EXECUTED: FLASH})
    gone = case.without(EXECUTED, rank=-1)
    assert [fact.ranks for fact in gone.facts(EXECUTED)] == [(0,)]
    assert gone.facts(KERNELS) == case.facts(KERNELS)
    assert gone.records["panel"] == case.records["panel"]
    assert case.values(EXECUTED) == (((0, 1), FLASH),), "the case itself is never changed"
    assert case.without(f"panel/{EXECUTED}").facts(f"panel/{EXECUTED}") == ()
    assert not case.without_role("panel").offers("panel")
    (weak,) = case.downgraded(EXECUTED).facts(EXECUTED)
    assert isinstance(weak.state, Known) and weak.state.method is Method.INSPECTED


@pytest.mark.parametrize("least", [Method.ATTESTED, Method.DECLARED, Method.INSPECTED, Method.EXECUTED])
def test_a_downgrade_never_satisfies_the_term(least: Method) -> None:
    case = healthy()
    words = case.vocabulary
    term = replace(words["adapter.kind"], name="acme.kind", least=least)
    case = case_of(run={"acme.kind": "x"}, vocabulary=words.extended([term], prefix="acme"))
    (fact,) = case.downgraded("acme.kind").facts("acme.kind")
    assert isinstance(fact.state, Known) and not term.satisfied_by(fact.state.method)


@pytest.mark.parametrize(
    "sabotage",
    [
        lambda case: case.altered(EXECUTED, FLASH),
        lambda case: case.altered(EXECUTED, lambda value: value),
        lambda case: case.without(KIND),
        lambda case: case.without(EXECUTED, rank=7),
        lambda case: case.downgraded(KIND),
    ],
)
def test_a_sabotage_that_changes_nothing_is_refused(sabotage: object) -> None:
    with pytest.raises(InertSabotageError, match="changes nothing"):
        sabotage(healthy())  # type: ignore[operator]


def test_a_sabotage_keeps_the_type_of_its_term() -> None:
    with pytest.raises(InertSabotageError, match="expected a Tally, saw int"):
        healthy().altered(EXECUTED, 3)


def test_an_example_is_typed_and_its_roles_and_terms_exist() -> None:
    for broken, error in (
        (lambda: case_of(run={EXECUTED: 3}), AffidavitError),
        (lambda: case_of(run={"attention.exected": FLASH}), UnknownTermError),
        (lambda: case_of(pannel={EXECUTED: FLASH}), AffidavitError),
    ):
        with pytest.raises(error):
            broken()


def test_a_case_carries_its_own_date() -> None:
    assert isinstance(case_of().as_of, datetime.date)
    assert isinstance(Case(records=healthy().records, as_of=datetime.date(2030, 1, 1)), Case)
