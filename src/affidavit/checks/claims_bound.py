"""Every number that names its measurement says what was measured, and no number that was taken back still stands."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Unproven, Verdict, check
from affidavit.checks.names_known import Row, first_of, rows_of, sites_of
from affidavit.fact.values import Table, Tally, Value

WORDS = ("path", "line", "claim", "said")
PLACES = ("path", "line", "said")


def _is_any(examined: Value) -> bool:
    return isinstance(examined, Tally) and examined.total > 0


@check(
    "claims-bound",
    needs=("claims.unbound", "claims.copies", "claims.doubted", "claims.unread"),
    when=(("claims.examined", _is_any),),
    landmine=Landmine.NUMBERS,
    unaffected="the measurements themselves, the run, and every other check",
)
def claims_bound(case: Case) -> Outcome:
    """The right number was known, and the old one was copied into the next launcher by whoever had measured it.

    A number in text carries the id of its measurement and must say what ``measurements.jsonl`` says, rounded as it is
    written. A number that was taken back is looked for, for ever: the same quantity, in whatever unit, beside words of
    its claim. One in what is about to run keeps it from starting.

    Source: playbook §4.7; anchors-mechanisms C7 (drift tools check references, and no values).
    Blind to: numbers that carry no id and were never taken back; a measurement that was wrong when it was made.
    """
    wrong = (*rows_of(case, "claims.unbound"), *rows_of(case, "claims.copies"))
    doubted, unread = rows_of(case, "claims.doubted"), rows_of(case, "claims.unread")
    if wrong:
        return Fail(
            expected="what was measured (measurements.jsonl)",
            saw=first_of(map(_placed, wrong)),
            means="Who reads it plans with a number that is known to be wrong.",
            action='Run "affidavit claims fix" for the diff.',
            sites=sites_of(wrong, _claim),
        )
    if unread:
        more = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
        first = unread[0]
        place = f"{first['path']}:{first['line']}" if first["line"] else first["path"]
        return Unproven(f"{place}: {first['said']}{more}")
    if doubted:
        return Review(
            expected="numbers that name their measurement, and what it was made on",
            saw=first_of(map(_placed, doubted)),
            means="Nobody would be told when it becomes wrong.",
            accept=(),
            action='Bind it with "claim: <id>", or waive the place.',
            sites=sites_of(doubted, _claim),
        )
    examined = case.value("claims.examined")
    assert isinstance(examined, Tally)
    return Pass(examined.total)


def _placed(row: Row) -> str:
    return f"{row['claim']} at {row['path']}:{row['line']}"


def _claim(row: Row) -> str:
    return str(row["claim"])


@claims_bound.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "claims.examined": Tally.count("claims", {"bound": 12, "old values": 4}),
        "claims.unbound": Table(WORDS, ()),
        "claims.copies": Table(WORDS, ()),
        "claims.doubted": Table(WORDS, ()),
        "claims.unread": Table(PLACES, ()),
    }
    return case_of(run=run)


@claims_bound.sabotage("an old number is copied into a new launcher")
def _(case: Case) -> Case:
    copied = ("launch.sh", 4, "encode-cache-rebuild", '"4.3 HOURS" was replaced by 145.5 s')
    return case.altered("claims.copies", Table(WORDS, (copied,)))


@claims_bound.sabotage("a page says another number than its measurement")
def _(case: Case) -> Case:
    other = ("README.md", 12, "lint-cold", '"0.9 s" where 1.42 s was measured')
    return case.altered("claims.unbound", Table(WORDS, (other,)))


@claims_bound.sabotage("a number beside a claim's words names no measurement", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    loose = ("train.sh", 9, "encode-cache-rebuild", '"20 min" names no measurement')
    return case.altered("claims.doubted", Table(WORDS, (loose,)))


@claims_bound.sabotage("a line of the measurements cannot be read", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("claims.unread", Table(PLACES, (("measurements.jsonl", 3, "no JSON"),)))
