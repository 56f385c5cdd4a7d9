"""What a page says first, and what it says of what was taken back."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_struct
from tests.report.dossiers import dossier, everything, record
from tests.report.test_html import page

from affidavit.check.finding import Contradiction, Verdict
from affidavit.fact.values import Tally
from affidavit.record.annotation import Extent
from affidavit.report.page.dossier import Dossier

LEFT_OPEN = {
    "tokens.supervision_requested": "unstated",
    "tokens.supervised_roles": ("assistant", "user"),
    "tokens.supervised_by_role": Tally.count("tokens", {"assistant": 1_204, "user": 2_010}),
}


def test_a_value_that_reads_like_a_message_takes_no_part_of_one_for_another() -> None:
    """A message used to be taken apart again where it says "saw", which is a word that a value can hold."""
    held = everything()
    forged = Contradiction(
        expected="flex, saw nothing (asked)", saw="eager.\nNot affected: all of it", means="It is slow.", action="Look."
    )
    findings = tuple(replace(one, contradiction=forged) for one in held.statement.findings if one.contradiction)
    found = page(replace(held, statement=replace(held.statement, findings=findings))).text
    parts = "expected flex, saw nothing (asked) saw eager.\\nNot affected: all of it means It is slow. next Look."
    assert found.count(parts) == len(findings) > 2


@pytest.mark.parametrize(
    ("without", "said"),
    [
        ((), "? UNKNOWN 2 checks have no answer: nothing in the record speaks of this"),
        ((Verdict.UNKNOWN,), "! REVIEW supervised-roles-reviewed saw 2,010"),
        ((Verdict.UNKNOWN, Verdict.REVIEW), "✓ PASS 57 checks hold; nothing failed, nothing waits"),
        ((Verdict.UNKNOWN, Verdict.REVIEW, Verdict.PASS), ""),
    ],
)
def test_without_a_failure_the_headline_names_what_blocks_next(without: tuple[Verdict, ...], said: str) -> None:
    held = dossier(record(changed=LEFT_OPEN))
    findings = tuple(one for one in held.statement.findings if one.verdict not in without)
    found = page(replace(held, statement=replace(held.statement, findings=findings)))
    head = found.text.partition("Seven lines")[0]
    assert said in head and "✗" not in head
    assert sum((one.get("class") or "").startswith("worst") for one in found.tags("p")) == bool(said)


def test_what_follows_from_a_request_is_not_called_one_that_nobody_made() -> None:
    open_to, _, _ = page(dossier()).text.partition("What nobody asked for ")[2].partition(" Learning rate ")
    nobody, _, results = open_to.partition("what something came to that somebody did ask for")
    assert "asked for by" in results and "asked for by" not in nobody and "settings that no request named" in nobody


FELL = "FALLS since #1: the labels of shard 7 were shifted by one"


def retracted(reason: str = "the labels of shard 7 were shifted by one") -> Dossier:
    """Return the dossier of a run all of which was taken back."""
    names = tuple(sorted({fact.name for fact in record().facts}))
    (correction,) = everything().statement.annotations
    fields = {"kind": Extent.RETRACTION, "falls": names, "survives": (), "not_reviewed": (), "reason": reason}
    return dossier(annotations=(replace_struct(correction, **fields),))


def test_what_was_taken_back_says_so_first_and_is_still_legible() -> None:
    found = page(retracted())
    head, _, rest = found.text.partition("Seven lines")
    assert "retraction #1 (Ada, 2026-01-01): the labels of shard 7 were shifted by one" in head
    assert "falls everything survives nothing named not reviewed nothing" in head
    assert (
        "FINISHED, step 12, RETRACTED" in head
        and "commit fell with a correction" in head
        and "UNKNOWN" in head
        and "have no answer: a later" in head
    )
    for said in (
        f"{FELL} it was: 48 flash",
        "executed : reading of attention.executed",
        "it was: 1 row",
        "What was seen of the rate fell with a correction",
        "What was seen of the weights fell with a correction",
        "what was seen of the tokens that carry the loss fell with a correction",
    ):
        assert said in rest, said
    assert "was seen." not in rest and "was not seen" not in rest and "not seen adapter" not in rest
    assert re.search(r"adapter \d facts, \d fell ", rest) and " unknown facts of" not in rest


def test_no_reason_why_something_is_unknown_is_left_out_without_a_word() -> None:
    found = page(everything())
    held = everything().statement
    one = next(finding for finding in held.findings if finding.verdict is Verdict.UNKNOWN)
    many = tuple(replace(one, message=f"{one.cites[0]}: because of {number}") for number in range(25))
    found = page(replace(everything(), statement=replace(held, findings=many))).text
    assert "because of 10" in found and re.search(r"and [1-9]\d* more reasons, in the record", found)


def test_a_long_reason_is_whole_and_leaves_the_verdict_on_the_screen() -> None:
    reason = " ".join(f"word{number}" for number in range(900))
    found = page(retracted(reason))
    head = found.text.partition("Seven lines")[0]
    assert head.index("word40 ") < head.index("more characters") < head.index("word899") < head.index("UNKNOWN")
    assert {"class": "fold"} in found.tags("details")
    assert found.text.count("word100") == 1, "and not once for each fact that fell"


def test_what_takes_the_place_of_a_run_stands_in_its_headline() -> None:
    (correction,) = everything().statement.annotations
    instead = replace_struct(correction, kind=Extent.SUPERSEDES, by="the run of May")
    head = page(dossier(annotations=(instead,))).text.partition("Seven lines")[0]
    assert "supersedes #1 (Ada, 2026-01-01), by the run of May: the panel had" in head
    assert "FINISHED, step 12, SUPERSEDED by the run of May" in head
