"""A shared copy: no text that somebody wrote is in it, wherever it stands, and it is still worth reading."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.report.dossiers import COMMIT, RUN, WORDS, dossier, everything, planted, record
from tests.report.test_html import Page

from affidavit.fact.observation import Known
from affidavit.fact.term import Method, Scope, Term, Vocabulary
from affidavit.record.record import Fact, ordered
from affidavit.report.page import harmless, markup
from affidavit.report.page.dossier import Dossier
from affidavit.report.page.share import shared

CANARY = re.compile(r"kanarie\d+q", re.IGNORECASE)
SHAPES: dict[str, Callable[[str, str], str]] = {
    "in place of the text": lambda text, canary: canary,
    "behind the text": lambda text, canary: f"{text} {canary}",
    "in the middle of a word": lambda text, canary: f"{text[: len(text) // 2]}{canary}{text[len(text) // 2 :]}",
    "as a path": lambda text, canary: f"/home/{canary}/train.py",
    "as a secret": lambda text, canary: f"{text} --token={canary.upper()}",
    "as a name of ours": lambda text, canary: f"{text}.{canary}_model",
    "as a quotation": lambda text, canary: f"{text} 'the model {canary} says'",
    "as a line": lambda text, canary: f"{text}\n{canary}\n",
}
NOT_ON_A_PAGE = (
    ".manifest.facts",
    ".manifest.terms",
    ".manifest.run",
    ".manifest.notes",
    ".processes[].identity",
    ".annotations[].prev",
    ".annotations[].about",
    ".ledger.drills",
    ".decision.blocking",
    ".decision.waived[][].",
    ".decision.expired[].reason",
    ".spans.policy",
    ".case.records{}.subject",
    ".case.records{}.notes",
    ".findings[].message",
    ".findings[].unaffected",
    ".value.algorithm",
    ".value.hex",
    ".facts[].was.source",
    ".facts[].was.value.of",
    ".state.value.of",
    ".request.value.of",
    ".state.value.columns[]",
)
"""Texts that a whole page does not show, or shows of some findings only; a table without rows shows no column."""


def is_looked_up(at: str) -> bool:
    """Say whether a text is a name by which our own code finds something: a canary there is another test's."""
    return at.endswith((".facts[].name", ".cites[]", ".findings[].check", "[].check", ".target"))


def with_canaries(held: Dossier, shape: str) -> tuple[Dossier, dict[str, str]]:
    """Return a dossier with a canary in every text, and where each of them is."""
    places: dict[str, str] = {}
    planted_before: dict[tuple[str, str], str] = {}

    def plant(at: str, text: str) -> str:
        if is_looked_up(at):
            return text
        alike = (text, at.rpartition(".")[2])  # what a finding says is the same text in the decision
        canary = planted_before.setdefault(alike, f"kanarie{len(planted_before)}q")
        places.setdefault(canary, at)
        return SHAPES[shape](text, canary)

    return planted(held, plant), places


@pytest.mark.parametrize("shape", SHAPES)
def test_no_text_that_somebody_wrote_is_in_a_shared_copy(shape: str) -> None:
    held, places = with_canaries(everything(), shape)
    assert len(places) > 500
    found = CANARY.findall(markup.render(shared(held)).decode())
    assert not found, {places[canary.lower()] for canary in found}


def test_the_whole_report_has_them_so_that_the_test_above_can_fail() -> None:
    held, places = with_canaries(everything(), "behind the text")
    found = {canary.lower() for canary in CANARY.findall(markup.render(held).decode())}
    missing = {at for canary, at in places.items() if canary not in found}
    unexplained = {at for at in missing if not any(known in at for known in NOT_ON_A_PAGE)}
    assert len(found) > 200
    assert not unexplained


@pytest.mark.parametrize("name", ["kanarie1q", "kanarie1q.py", "kanarie1q@24867161ff5d"])
def test_a_check_that_did_not_come_with_affidavit_has_no_name_in_a_shared_copy(name: str) -> None:
    held = everything()
    findings = tuple(replace(finding, check=name) for finding in held.statement.findings)
    page = markup.render(shared(replace(held, statement=replace(held.statement, findings=findings)))).decode()
    assert not CANARY.search(page) and "FAIL" in page and "withheld" in page


def test_a_fact_of_a_plugin_is_left_out_with_its_name_and_its_meaning() -> None:
    term = Term(
        name="kanarie1q.kanarie2q", type=str, unit="", scope=Scope.RUN, least=Method.DECLARED, meaning="of kanarie3q"
    )
    told = record()
    fact = Fact(name=term.name, state=Known("kanarie4q", Method.DECLARED, "kanarie5q"))
    told = replace(told, facts=ordered((*told.facts, fact)), vocabulary=Vocabulary((*WORDS, term)))
    assert len(set(CANARY.findall(markup.render(dossier(told)).decode()))) == 5
    assert not CANARY.search(markup.render(shared(dossier(told))).decode())


def test_a_shared_copy_says_that_it_is_one_and_what_was_left_out() -> None:
    page = Page(markup.render(shared(everything()))).text
    assert page.lstrip().startswith("Shared copy. Left out: paths, hosts, commands, people")
    assert re.search(r"withheld : \d+ texts", page)
    assert "Shared copy" not in Page(markup.render(everything())).text


def test_a_shared_copy_is_worth_reading() -> None:
    page = Page(markup.render(shared(everything()))).text
    for said in (
        RUN,
        COMMIT,
        "FINISHED, step 12",
        "FAIL attention-as-requested",
        "expected sdpa (reading of attention.requested)",
        "saw 48 eager calls (executed, rank 0-1)",
        "not affected the data, the masks of the loss, the adapters",
        "REVIEW supervised-roles-reviewed",
        "2,010 of 2,010 user tokens",
        "attention: sdpa asked, eager ran on 4 layers",
        "model.layers.{0..3}.mlp.up_proj",
        "schedule.warmup_steps",
        "slurm",
        "Python 3.11.7",
        "proved able to fail on 2026-01-01",
        f"withheld@{COMMIT}",
        "(5 tokens)",
        "sha256:" + "ab" * 32,
        "falls precision.gradients",
    ):
        assert said in page, said


def test_nobody_and_no_place_is_in_a_shared_copy() -> None:
    page = markup.render(shared(everything())).decode()
    for said in (
        "Ada",
        "somebody@",
        "home/somebody",
        "node.somewhere",
        "train.py",
        "/home",
        "4711",
        "it raining",
        "on purpose",
        "a hurry",
    ):
        assert said not in page, said


@pytest.mark.parametrize(
    "said",
    [
        "flash",
        "bfloat16",
        "SeedableRandomSampler",
        "Gemma4ForCausalLM(attn_implementation=…)",
        "execution trace of step 2",
        "betas=(0.9, 0.999)",
        "eps=1e-08",
        "decoupled_weight_decay=True",
        "frozen at rest",
        "default of SFTConfig",
        "2.13.0+cpu",
        "the scheduler's own counter before each step",
    ],
)
def test_what_the_house_itself_says_is_kept(said: str) -> None:
    assert harmless.text(said) == harmless.prose(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "/home/ada/run",
        "train.py",
        "C:\\model",
        "ada@node",
        "~/model",
        "hf_aBcDeFgHiJkLmNoP",
        "a1b2c3d4e5f6",
        "a.b.c.d.e",
        "the 'model' of",
        "Großmutter",
        "modell",
        "123456789012345678901234",
        "$HOME",
        "AcmeForCausalLM",
    ],
)
def test_what_somebody_may_have_written_is_not(said: str) -> None:
    assert harmless.text(said) == "withheld"


def test_a_sentence_keeps_the_words_that_are_known() -> None:
    assert harmless.prose("labels of 4 rows of Ada Lovelace in /data/x, step 2") == (
        "labels of 4 rows of withheld in withheld step 2"
    )
    assert harmless.prose('Run "affidavit explain loop-as-planned".') == 'Run "affidavit explain loop-as-planned".'
    assert harmless.prose('Run "affidavit explain zebra".') == "Run withheld"
    assert harmless.module("base_model.acme.zebra.layers.{0..3}.q_proj") == "base_model.withheld.layers.{0..3}.q_proj"
