import pytest
from tests.report.world import RUN, healthy

from affidavit.case import Case, case_of
from affidavit.check import Finding, Landmine, Verdict
from affidavit.fact.term import Category, Method, Scope, Term
from affidavit.fact.values import Table, Tally
from affidavit.fact.vocabulary import load
from affidavit.report.evidence import evidence


def said(case: Case, *cites: str) -> tuple[str, ...]:
    finding = Finding(check="any", landmine=Landmine.RESULT, verdict=Verdict.PASS, message="", cites=cites)
    return evidence(case, [finding])


def test_a_subject_is_told_once_and_in_the_order_in_which_it_is_cited() -> None:
    cites = ("tokens.supervised_roles", "attention.kernels", "tokens.supervised_by_role")
    assert said(healthy(), *cites) == (
        "loss on assistant: 1,204 of 3,310 tokens",
        "attention: sdpa asked, flash ran on 4 layers",
    )


def test_ranks_that_differ_are_both_named() -> None:
    case = healthy(ranks=2).altered("attention.kernels", ("math",), rank=1)
    assert said(case, "attention.kernels") == ("attention: sdpa asked, flash and math ran on 4 layers",)


def test_what_nobody_saw_is_not_spoken_of() -> None:
    case = healthy().without("attention.kernels")
    assert said(case, "attention.kernels") == ("attention: sdpa asked, sdpa configured on 4 layers",)
    assert said(healthy(), "adapter.kind") == ()
    assert said(healthy(), "lock/attention.kernels") == ()


def test_an_adapter_is_told_with_what_trained() -> None:
    matched, trained = Tally.count("modules", {"q_proj": 4, "v_proj": 4}), Tally.count("modules", {"q_proj": 4})
    case = case_of(run={"adapter.kind": "lora", "adapter.matched": matched, "adapter.trained": trained})
    assert said(case, "adapter.trained") == ("lora trained on 4 of 8 modules",)
    assert said(case_of(run={"adapter.kind": "none"}), "adapter.kind") == ("no adapter",)


def test_deviating_files_are_counted() -> None:
    case = case_of(run={**RUN, "tree.deviations": Table(("path", "verdict"), (("a.py", "modified"),))})
    assert said(case, "tree.deviations") == ("commit 3fa2b1cdeadb, 12 files examined, 1 not as committed",)


DEVIATING = Table(("path", "verdict"), (("a.py", "modified"),))


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        ("refuse", "1 not as committed"),
        ("allow: a hotfix", "1 not as committed, allowed: a hotfix"),
        ("snapshot refs/affidavit/r 0123abc", "1 not as committed, kept in a snapshot"),
    ],
)
def test_a_tick_beside_code_that_no_commit_holds_says_who_answers_for_it(gate: str, words: str) -> None:
    case = case_of(run={**RUN, "tree.deviations": DEVIATING, "tree.gate": gate})
    assert said(case, "tree.deviations") == (f"commit 3fa2b1cdeadb, 12 files examined, {words}",)


def test_where_there_is_no_commit_or_no_file_nothing_is_called_committed() -> None:
    clean = Table(("path", "verdict"), ())
    bare = case_of(run={"tree.commit": "no repository", "tree.files_examined": 1})
    assert said(bare, "tree.commit") == ("no repository, 1 file examined",)
    empty = case_of(run={**RUN, "tree.files_examined": 0, "tree.deviations": clean})
    assert said(empty, "tree.commit") == ("commit 3fa2b1cdeadb, 0 files examined",)


def test_only_the_files_of_the_project_are_called_committed() -> None:
    clean = Table(("path", "owner", "verdict"), ())
    ran = {"committed": 2, "installed": 3032, "stdlib": 277}
    case = case_of(run={"code.files_by_verdict": Tally.count("files", ran), "code.deviations": clean})
    assert said(case, "code.deviations") == ("3,311 files ran, 2 of the project, all as committed",)
    foreign = Tally.count("files", {**ran, "committed": 0})
    case = case_of(run={"code.files_by_verdict": foreign, "code.deviations": clean})
    assert said(case, "code.deviations") == ("3,309 files ran, none of the project",)


def test_a_new_subject_is_told_without_a_line_of_code_here() -> None:
    term = Term(
        name="acme.reward_kl",
        type=str,
        unit="",
        scope=Scope.RANK,
        least=Method.EXECUTED,
        meaning="how the reward is penalised",
        category=Category.MEANING,
    )
    case = case_of(run={"acme.reward_kl": "token " * 40}, vocabulary=load().extended([term], prefix="acme"))
    (phrase,) = said(case, "acme.reward_kl")
    assert phrase.startswith("acme.reward_kl token token") and phrase.endswith("…") and len(phrase) == 60
