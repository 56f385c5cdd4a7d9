"""Every name that is given to an installed callable is one that it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Unproven, Verdict, check
from affidavit.fact.values import Cell, Table, Tally, Value

WORDS = ("path", "line", "callee", "name", "said")
PLACES = ("path", "line", "said")
Row = dict[str, Cell]
_SHOWN = 3


def _gives_names(examined: Value) -> bool:
    return isinstance(examined, Tally) and examined.total > 0


@check(
    "names-known",
    needs=("names.unknown", "names.doubted", "names.unread"),
    when=(("names.examined", _gives_names),),
    landmine=Landmine.NAMES,
    unaffected="the values of the names that are known, and every other check",
)
def names_known(case: Case) -> Outcome:
    """A value can be in range while the parameter that carried it is gone from the library.

    Scripts, the configs they are given and the launchers are read as text, and each name is held against the callable
    as it is installed. One that it refuses is a TypeError at that line, after whatever runs before it. One that is
    swallowed can only be judged after the call (names-consumed); here it waits for a person where it looks like
    another.

    Source: playbook §4.2; hf-stack-spike §1 (28 names gone between two versions of one class); anchors-mechanisms C2.
    Blind to: names that are made at run time; callables outside of the frameworks; whether a known name is heeded.
    """
    unknown, doubted, unread = (
        rows_of(case, "names.unknown"),
        rows_of(case, "names.doubted"),
        rows_of(case, "names.unread"),
    )
    if unknown:
        return Fail(
            expected="names that the installed callables take (their signatures)",
            saw=first_of(map(_given, unknown)),
            means="Each is refused at its line, after everything before it has run.",
            action="Write the name that is installed, or install the version that has this one.",
            sites=sites_of(unknown, _given),
        )
    if doubted:
        return Review(
            expected="names that something reads (signatures, and what reads **kwargs)",
            saw=first_of(map(_given, doubted)),
            means="The callable swallows what it does not know, so the value may reach nobody.",
            accept=(),
            action="Write the name that is read, or waive the place where it is meant.",
            sites=sites_of(doubted, _given),
        )
    if unread:
        more = f" and {len(unread) - 1} more places" if len(unread) > 1 else ""
        return Unproven(f"{unread[0]['path']}: {unread[0]['said']}{more}")
    examined = case.value("names.examined")
    assert isinstance(examined, Tally)
    return Pass(examined.total)


def rows_of(case: Case, need: str) -> tuple[Row, ...]:
    table = case.value(need)
    assert isinstance(table, Table)
    return table.records()


def first_of(places: Iterable[str]) -> str:
    """Return the first few places, each once, and how many more there are."""
    said = [*dict.fromkeys(places)]
    more = f" and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    return ", ".join(said[:_SHOWN]) + more


def sites_of(rows: Iterable[Row], key: Callable[[Row], str]) -> tuple[Site, ...]:
    return tuple(
        Site(path=str(row["path"]), line=int(row["line"]), key=key(row), said=str(row["said"])) for row in rows
    )


def _given(row: Row) -> str:
    return f"{row['callee']}({row['name']}=)"


@names_known.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "names.examined": Tally.count("names", {"script": 41, "config": 12, "launcher": 3}),
        "names.unknown": Table(WORDS, ()),
        "names.doubted": Table(WORDS, ()),
        "names.unread": Table(PLACES, ()),
    }
    return case_of(run=run)


@names_known.sabotage("a parameter was deleted from the library")
def _(case: Case) -> Case:
    gone = ("sft.yaml", 7, "SFTConfig", "warmup_ratio", "removed in transformers 5.16; now warmup_steps below 1")
    return case.altered("names.unknown", Table(WORDS, (gone,)))


@names_known.sabotage("a misspelt name is swallowed by a callable that takes any", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    misspelt = ("train.py", 3, "AutoModel.from_pretrained", "attn_implementaton", "did you mean attn_implementation?")
    return case.altered("names.doubted", Table(WORDS, (misspelt,)))


@names_known.sabotage("the package that takes the names is not installed", expect=Verdict.UNKNOWN)
def _(case: Case) -> Case:
    return case.altered("names.unread", Table(PLACES, (("train.py", 2, "trl is not installed"),)))
