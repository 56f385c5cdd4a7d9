"""Every row of the vocabulary has somebody who says it and somebody who reads it; a fact that nobody reads is cost."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import affidavit.checks
from affidavit import boot
from affidavit.case import Need
from affidavit.check.load import load as load_checks
from affidavit.fact.term import Category, Scope, Term, Vocabulary
from affidavit.fact.vocabulary import load

PACKAGE = Path(affidavit.checks.__file__).parents[1]
VOCABULARY = load()
INSTRUMENTS = {instrument.name: tuple(instrument.emits) for instrument in boot.load_instruments()[1]}
CHECKS = {
    check.id: tuple(Need.parse(need).name for need in check.reads)
    for check in load_checks(affidavit.checks, VOCABULARY)
}

SAID_OUTSIDE = {
    "tree": "run/tree.py",
    "code": "run/code.py",
    "house": "run/plugins.py",
    "run": "record/merge.py run/attempts.py",
    "artifact": "run/artifacts.py",
    "cache": "run/opened.py run/lineage.py run/claims.py run/declared.py",
    "foreign": "run/adopt.py",
    "claims": "claims/facts.py",
    "names": "lint/facts.py",
    "fields": "lint/facts.py",
    "instruments": "run/proofs/standing.py",
    "gates": "run/proofs/standing.py lint/facts.py",
    "alarms": "lint/facts.py",
    "attestations": "run/questions.py",
    "record": "run/untouched.py",
    "references": "lint/references/facts.py",
}
"""Who states the facts of scope PROJECT and RUN, by subject: no instrument sees them, what stands around a run does."""
LISTED_ONLY = {
    "code.loaded": "how many files the digests of code.listing stand for; files_by_verdict is what a reader asks",
    "tokens.rows_examined": "how large the sample is; the counts by role say it in tokens",
}
"""Terms that nobody reads by name: they stand in the full list of facts, each for a reason."""
READERS = ("report", "run", "cli", "record/owner.py")
"""Who reads facts by name to show them or to go on with them; checks read through their needs."""


def _names_in(files: Iterable[Path]) -> set[str]:
    """Return every string constant of some files: a term is named whole, or nobody finds it again."""
    return {
        node.value
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _unsaid(vocabulary: Vocabulary, instruments: Mapping[str, tuple[str, ...]]) -> list[str]:
    by_instruments = {term for emits in instruments.values() for term in emits}
    outside = {subject: _names_in(PACKAGE / file for file in files.split()) for subject, files in SAID_OUTSIDE.items()}
    return [
        term.name
        for term in vocabulary
        if term.name
        not in (by_instruments if term.scope is Scope.RANK else outside.get(term.name.partition(".")[0], ()))
    ]


def _unread(vocabulary: Vocabulary, checks: Mapping[str, tuple[str, ...]]) -> list[str]:
    needed = {name for needs in checks.values() for name in needs}
    places = [PACKAGE / reader for reader in READERS]
    shown = _names_in(file for place in places for file in ([place] if place.is_file() else place.rglob("*.py")))
    return [term.name for term in vocabulary if term.name not in needed | shown | set(LISTED_ONLY)]


def _with_a_row(scope: Scope) -> Vocabulary:
    row: Term = replace(VOCABULARY["tree.commit"], name="tree.weather", scope=scope)
    return Vocabulary((*VOCABULARY, row))


def test_every_term_is_said() -> None:
    assert _unsaid(VOCABULARY, INSTRUMENTS) == []


@pytest.mark.parametrize("scope", Scope)
def test_a_term_that_nobody_says_is_seen(scope: Scope) -> None:
    assert _unsaid(_with_a_row(scope), INSTRUMENTS) == ["tree.weather"]


def test_an_instrument_that_stops_emitting_is_seen() -> None:
    fewer = {name: emits for name, emits in INSTRUMENTS.items() if "attention.kernels" not in emits}
    assert "attention.kernels" in _unsaid(VOCABULARY, fewer)


def test_one_instrument_says_a_term() -> None:
    said = [term for emits in INSTRUMENTS.values() for term in emits]
    assert sorted(said) == sorted(set(said))


def test_every_term_is_read() -> None:
    assert _unread(VOCABULARY, CHECKS) == []


def test_what_is_only_listed_is_still_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = sorted(LISTED_ONLY)
    monkeypatch.setattr("test_contract_vocabulary.LISTED_ONLY", {})
    assert sorted(_unread(VOCABULARY, CHECKS)) == expected


def test_a_term_that_nobody_reads_is_seen() -> None:
    assert _unread(_with_a_row(Scope.RANK), CHECKS) == ["tree.weather"]


def test_a_check_that_goes_is_missed() -> None:
    fewer = {name: needs for name, needs in CHECKS.items() if "attention.configured" not in needs}
    assert set(_unread(VOCABULARY, fewer)) >= {"attention.configured"} - _names_in((PACKAGE / "report").rglob("*.py"))


def test_what_a_lock_may_hold_is_of_meaning_and_reads_as_english() -> None:
    assert [term.name for term in VOCABULARY if term.lock and term.category is not Category.MEANING] == []
    assert [term.name for term in VOCABULARY if term.category is Category.MEANING and not term.phrase] == []


def test_what_a_term_follows_is_there_and_never_itself() -> None:
    for term in VOCABULARY:
        pending, seen = list(term.follows), set[str]()
        while pending:
            name = pending.pop()
            assert name != term.name
            pending += [] if name in seen else VOCABULARY[name].follows
            seen.add(name)
