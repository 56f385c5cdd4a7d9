from dataclasses import replace

from tests.report.world import RUN, healthy

from affidavit.case import case_of
from affidavit.fact.observation import Cause, Unknown
from affidavit.fact.term import Category
from affidavit.record.record import Record
from affidavit.report import document
from affidavit.report.difference import compare, lines
from affidavit.report.terminal import draw

LEFT = healthy().subject


def other(**changes: object) -> Record:
    return case_of(run={**RUN, **{name.replace("__", "."): value for name, value in changes.items()}}).subject


def test_a_difference_of_meaning_is_shown_on_both_sides() -> None:
    page = draw(lines(compare(LEFT, other(attention__kernels=("math",)))))
    assert "attention.kernels  meaning" in page
    assert "  A flash" in page and "  B math" in page


def test_what_is_incidental_is_folded_into_a_count_until_it_is_asked_for() -> None:
    found = compare(LEFT, other(tree__commit="0000000000000000"))
    assert [difference.category for difference in found.differences] == [Category.INCIDENTAL]
    page = draw(lines(found))
    assert "no difference in any fact of meaning" in page
    assert "1 incidental differences: tree.commit" in page and "3fa2b1c" not in page
    assert "3fa2b1cdeadbeef0" in draw(lines(found, every=True))


def test_two_ignorances_are_not_called_equal() -> None:
    blind = replace(LEFT, facts=tuple(replace(fact, state=Unknown(Cause.NO_ADAPTER, "")) for fact in LEFT.facts))
    found = compare(blind, blind)
    assert found.equal == 0 and len(found.unseen) == len(LEFT.facts)
    assert "unknown in both, so not compared" in draw(lines(found))
    assert compare(LEFT, blind).equal == 0


def test_equal_records_are_equal_in_every_fact() -> None:
    found = compare(LEFT, LEFT)
    assert found.equal == len(LEFT.facts) and not found.differences and not found.unseen


def test_the_document_holds_every_category() -> None:
    found = compare(LEFT, other(tree__commit="0000000000000000", attention__kernels=("math",)))
    said = document.difference(found)
    assert [entry["category"] for entry in said["differences"]] == ["meaning", "incidental"]
