"""A row of the vocabulary is well formed, a name stands once, and a plugin stays under its own prefix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affidavit.fact.term import Method, Scope, Term, TermShapeError, UnknownTermError, Vocabulary
from affidavit.fact.vocabulary import load

KL = Term("acme.reward_kl", float, "nats", Scope.RUN, Method.INSPECTED, "divergence from the reference")


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "acme"},
        {"name": "Acme.kl"},
        {"name": "acme.kl.a.b"},
        {"name": "acme.kl "},
        {"name": "acme.kl\n"},
        {"name": "äcme.kl"},
        {"name": "acme..kl"},
        {"type": dict},
        {"type": type(None)},
        {"meaning": " "},
        {"phrase": "the divergence"},
        {"phrase": "{} and {}"},
        {"usual": ((1, "a count"),)},
        {"usual": ((0.0, " "),)},
    ],
    ids=repr,
)
def test_a_malformed_row_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(TermShapeError):
        replace(KL, **changes)  # type: ignore[arg-type]


def test_a_term_admits_its_own_type_only() -> None:
    count = replace(KL, type=int)
    assert count.admits(1)
    assert not count.admits(True), "True is an int to Python, and no count"
    assert not KL.admits(1)


@pytest.mark.parametrize(
    ("least", "satisfying"),
    [
        (Method.EXECUTED, {Method.EXECUTED}),
        (Method.INSPECTED, {Method.INSPECTED, Method.EXECUTED}),
        (Method.DECLARED, {Method.DECLARED, Method.INSPECTED, Method.EXECUTED}),
        (Method.ATTESTED, {Method.ATTESTED}),
    ],
)
def test_a_persons_word_stands_apart(least: Method, satisfying: set[Method]) -> None:
    assert {method for method in Method if replace(KL, least=least).satisfied_by(method)} == satisfying


def test_a_name_outside_the_vocabulary_is_an_error_with_the_nearest() -> None:
    with pytest.raises(UnknownTermError, match=r'did you mean "attention\.executed"'):
        load()["attention.exected"]


def test_a_name_stands_once_and_what_a_term_is_derived_from_stands_too() -> None:
    with pytest.raises(TermShapeError, match="two rows"):
        Vocabulary([KL, KL])
    with pytest.raises(UnknownTermError):
        Vocabulary([replace(KL, derived_from=("acme.gone",))])


def test_a_plugin_brings_terms_under_its_prefix_only() -> None:
    words = load()
    assert "acme.reward_kl" in words.extended([KL], prefix="acme") and "acme.reward_kl" not in words
    with pytest.raises(TermShapeError, match=r'under "other\." only'):
        words.extended([KL], prefix="other")
    with pytest.raises(TermShapeError, match="under"):
        words.extended([replace(KL, name="acmes.reward_kl")], prefix="acme")
    with pytest.raises(TermShapeError, match="two rows"):
        words.extended([KL], prefix="acme").extended([KL], prefix="acme")


def test_what_was_derived_is_found_through_others() -> None:
    chain = [replace(KL, name=f"acme.t{n}", derived_from=(f"acme.t{n - 1}",) if n else ()) for n in range(3)]
    words = Vocabulary(chain)
    assert set(words.derived("acme.t0")) == {"acme.t1", "acme.t2"}
    assert words.derived("acme.t2") == ()


def test_a_circle_of_derivations_ends() -> None:
    circle = [replace(KL, name=f"acme.t{n}", derived_from=(f"acme.t{(n + 1) % 2}",)) for n in range(2)]
    assert set(Vocabulary(circle).derived("acme.t0")) == {"acme.t0", "acme.t1"}


def test_the_houses_own_vocabulary_loads_and_explains_itself() -> None:
    words = load()
    assert len(words) > 15
    assert all(len(term.meaning) > 20 for term in words)
