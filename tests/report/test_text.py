"""The report, drawn whole at 80 columns: the files in golden/ are what a person sees."""

import datetime
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as with_fields
from tests.report.world import CHECKS, DAY, healthy, proof, statement

from affidavit.check import Landmine, Verdict
from affidavit.fact.observation import Cause, Unknown
from affidavit.fact.values import Digest
from affidavit.gate import Waiver
from affidavit.record.annotation import Annotation, Extent
from affidavit.record.fold import fold
from affidavit.record.ledger import Ledger
from affidavit.record.record import Fact, Record
from affidavit.report import text
from affidavit.report.checklist import checklist, lines
from affidavit.report.statement import Statement
from affidavit.report.terminal import draw

GOLDEN = Path(__file__).parent / "golden"
MATH = ("math",)


def blinded(record: Record, cause: Cause, why: str, *prefixes: str) -> Record:
    """Return a record in which the facts under some prefixes are unknown."""
    return record.with_facts(
        replace(fact, state=Unknown(cause, why)) if fact.name.startswith(prefixes) else fact for fact in record.facts
    )


def clean_run() -> Statement:
    return statement(healthy(ranks=2))


def failing_run() -> Statement:
    return statement(healthy(ranks=2).altered("attention.kernels", MATH, rank=1))


def run_to_review() -> Statement:
    return statement(healthy().altered("tokens.supervised_roles", ("assistant", "user")))


def unknown_run() -> Statement:
    case = healthy()
    blind = blinded(case.subject, Cause.NO_ADAPTER, "DeepSpeed engine", "attention.", "tokens.")
    return statement(case.with_record("run", blind), drilled=False)


def corrected_run() -> Statement:
    """Three corrections: the first is a line, the others say what falls, survives, and was not looked at."""
    manifest = str(Digest("sha256", "0" * 64))
    correction = Annotation(
        seq=2,
        prev=manifest,
        about=manifest,
        kind=Extent.ERRATUM,
        falls=("attention.kernels",),
        survives=("tokens.*",),
        not_reviewed=("adapter.*", "tree.*"),
        reason="the panel had profiled the serving seat",
        author="Ada",
        time=datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc),
    )
    case = healthy()
    torn = replace(case.subject, notes=("journal of rank 0: its last line is torn",))
    note = with_fields(correction, seq=1, kind=Extent.NOTE, falls=(), reason="the panel waits for another look")
    many = tuple(
        f"{subject}.*"
        for subject in ["adapter", "batch", "cache", "code", "dataset", "loader", "loop", "model", "modes", "tree"]
    )
    last = with_fields(correction, seq=3, kind=Extent.SUPERSEDES, by="20260103-1b2c", survives=(), not_reviewed=many)
    said = (note, correction, last)
    problems = ("instruments.jsonl:3: no JSON",)
    return replace(statement(case.with_record("run", fold(torn, said)), problems=problems), annotations=said)


def test_what_was_said_of_a_record_is_told_even_where_nobody_gives_it_to_the_report() -> None:
    drawn = draw(text.report(replace(corrected_run(), annotations=())))
    assert drawn.count("(Ada, 2026-01-02)") == 3 and "FALLS since #2" in drawn


def test_a_long_reason_leaves_the_verdict_on_the_screen() -> None:
    said = corrected_run()
    long = with_fields(said.annotations[1], reason="shifted by one " * 400)
    folded = statement(healthy().with_record("run", fold(healthy().subject, (long,))))
    drawn = draw(text.report(replace(folded, annotations=(long,))))
    assert (
        drawn.count("shifted") < 50
        and "FALLS since #2" in drawn
        and "and 5,600 more characters; --json has" in " ".join(drawn.split())
    )


def test_many_corrections_are_counted_behind_the_newest() -> None:
    said = corrected_run()
    many = tuple(with_fields(said.annotations[0], seq=number) for number in range(1, 10))
    drawn = draw(text.report(replace(said, annotations=many)))
    assert drawn.index("note #9 (Ada") < drawn.index("note #4 (Ada") < drawn.index("and 3 earlier; --json has them all")
    assert drawn.count("  not reviewed  ") == 2


def half_seen_run() -> Statement:
    case = healthy(ranks=2)
    facts = (replace(fact, ranks=(0,)) if fact.ranks else fact for fact in case.subject.facts)
    return statement(case.with_record("run", case.subject.with_facts(facts)))


def run_of_forty_ranks() -> Statement:
    """Two ranks never attached, and two others ran another kernel."""
    case = healthy(ranks=40)
    for rank in (3, 17):
        case = case.altered("attention.kernels", MATH, rank=rank)
    seen = tuple(rank for rank in range(40) if rank not in (38, 39))
    facts = []
    for fact in case.subject.facts:
        ranks = tuple(rank for rank in fact.ranks if rank in seen)
        facts += [replace(fact, ranks=ranks)] if ranks or not fact.ranks else []
    return statement(case.with_record("run", case.subject.with_facts(facts)))


@pytest.mark.parametrize(
    "scene",
    [clean_run, failing_run, run_to_review, unknown_run, corrected_run, half_seen_run, run_of_forty_ranks],
    ids=lambda scene: scene.__name__,
)
def test_the_report_is_what_a_person_was_shown_before(scene) -> None:
    drawn = draw(text.report(scene()))
    assert max(map(len, drawn.splitlines())) <= 80
    assert drawn == (GOLDEN / f"{scene.__name__}.txt").read_text()


def test_in_a_narrow_terminal_no_word_falls_out_of_its_line_into_the_margin() -> None:
    rows = draw(lines(checklist(clean_run())), width=50).splitlines()
    assert len(rows) > 14 and all(row.startswith((" " * 6, *"✓·")) for row in rows)


def test_a_clean_run_takes_about_a_dozen_lines() -> None:
    assert len(draw(text.report(clean_run())).splitlines()) <= 14


def test_one_line_for_each_landmine_and_what_is_not_covered_is_no_pass() -> None:
    rows = checklist(clean_run())
    assert [row.landmine for row in rows] == list(Landmine)
    assert {row.landmine for row in rows if row.verdict is Verdict.PASS} == {Landmine.RESULT, Landmine.TREE}
    uncovered = [row for row in rows if row.verdict is None]
    assert len(uncovered) == 5 and all(row.uncovered for row in uncovered)
    assert draw(lines(uncovered)).count("not covered") == 5


def test_what_is_unknown_and_nobody_waits_for_is_no_noise() -> None:
    case = healthy()
    for name in ("tree.bystanders", "tree.commit"):
        unseen = Fact(name=name, state=Unknown(Cause.NO_REPOSITORY, "no .git here"))
        others = (fact for fact in case.subject.facts if fact.name != name)
        drawn = draw(text.report(statement(case.with_record("run", case.subject.with_facts((*others, unseen))))))
        assert ("UNKNOWN  1 fact: the code is in no git repository" in drawn) is (name == "tree.commit")


def test_a_check_that_exists_and_is_not_owed_covers_nothing() -> None:
    case = healthy().without_role("run").with_record("run", replace(healthy().subject, facts=()))
    said = replace(statement(case), findings=())
    row = next(row for row in checklist(said) if row.landmine is Landmine.TREE)
    assert row.verdict is None and row.uncovered == "no check is owed here"


def test_what_blocks_is_said_before_what_waits() -> None:
    case = healthy().altered("attention.kernels", MATH).altered("tokens.supervised_roles", ("user",))
    drawn = draw(text.report(statement(case.without("tree.commit"))))
    assert drawn.index("\nFAIL  ") < drawn.index("\nREVIEW  ") < drawn.index("\nUNKNOWN  ")
    assert "affidavit accept 20260101-3f9a" in drawn


def test_the_checklist_shows_the_worst_of_a_landmine() -> None:
    case = healthy().altered("attention.kernels", MATH)
    row = next(row for row in checklist(statement(case)) if row.landmine is Landmine.RESULT)
    assert row.verdict is Verdict.FAIL


def test_a_waiver_is_shown_and_the_verdict_stays() -> None:
    waiver = Waiver(
        target="attention-as-requested", reason="measured on purpose", author="Ada", until=datetime.date(2026, 2, 1)
    )
    case = healthy().altered("attention.kernels", MATH)
    drawn = draw(text.report(statement(case, waivers=[waiver])))
    assert "FAIL     attention-as-requested" in drawn
    assert "waived by Ada until 2026-02-01: measured on purpose" in drawn
    assert "1 finding waived" in drawn
    expired = replace(waiver, until=datetime.date(2025, 1, 1))
    assert "Ada's waiver ended on 2025-01-01" in draw(text.report(statement(case, waivers=[expired])))


def test_a_drill_that_missed_something_proves_nothing() -> None:
    said = clean_run()
    missed = Ledger(drills=tuple(proof(rule, caught=8) for rule in CHECKS))
    rows = checklist(replace(said, ledger=missed))
    assert {row.proved for row in rows if row.verdict} == {"never drilled"}
    rows = checklist(replace(said, ledger=Ledger(drills=(proof(CHECKS[0]),))))
    assert "1 of 2 drilled" in {row.proved for row in rows}


def test_a_drill_of_a_day_that_has_not_come_hides_none_that_is_true() -> None:
    """The clock of a machine that is ahead would date every line of a report by a year that is not yet."""
    early = tuple(with_fields(proof(rule), date=datetime.date(2099, 1, 1), caught=1) for rule in CHECKS)
    said = replace(clean_run(), ledger=Ledger(drills=(*map(proof, CHECKS), *early)))
    assert {row.proved for row in checklist(said) if row.verdict} == {f"proved {DAY}"}
    assert f"last {DAY}" in draw(text.report(said))


def test_no_finding_at_all_is_said_to_be_no_pass() -> None:
    said = replace(statement(healthy()), findings=())
    assert "no check was owed" in draw(text.report(said))


def test_two_trainings_are_told_apart() -> None:
    case = healthy().altered("attention.kernels", MATH)
    record = case.subject
    second = [replace(fact, episode=1) for fact in record.facts if fact.ranks]
    both = replace(record, facts=(), episodes=2).with_facts((*record.facts, *second))
    drawn = draw(text.report(statement(case.with_record("run", both), checks=CHECKS[:1])))
    assert "training 1" in drawn and "training 2" in drawn
