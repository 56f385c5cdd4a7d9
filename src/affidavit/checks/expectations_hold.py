"""What the project says that every run must resolve to is what this run resolved to."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Value
from affidavit.record.compare import differ


@check(
    "expectations-hold",
    needs=("expected/*",),
    landmine=Landmine.RESULT,
    unaffected="every fact of which affidavit.toml expects nothing",
)
def expectations_hold(case: Case) -> Outcome:
    """Somebody wrote down under [expect] what a run must be; a run that is otherwise is not the one they meant.

    Unlike the lock, which holds what was once resolved, this is a person's own word, before any run.

    Source: DESIGN §6. Blind to: what is not expected there.
    """
    expected = case.records["expected"]
    names = tuple(fact.name for fact in expected.facts)
    differences = differ(expected, case.subject, names, episode=case.episode)
    if differences:
        return Fail(
            expected="; ".join(f"{found.name} {found.left}" for found in differences) + " (affidavit.toml)",
            saw="; ".join(found.right for found in differences) + " (this run)",
            means="This run is not what the project says that its runs are.",
            action='Find what moved it ("affidavit show --facts"), or change [expect].',
            sites=tuple(Site(path="affidavit.toml", key=found.name) for found in differences),
        )
    return Pass(examined=len(names))


@expectations_hold.healthy
def _() -> Case:
    said: dict[str, Value] = {"attention.kernels": ("flash",), "adapter.kind": "lora"}
    return case_of(run=said, expected=said, ranks=2)


@expectations_hold.sabotage("the run resolved otherwise")
def _(case: Case) -> Case:
    return case.falsified(case.records["expected"].facts[0].name)


@expectations_hold.sabotage("the last rank resolved otherwise")
def _(case: Case) -> Case:
    return case.falsified(case.records["expected"].facts[-1].name, rank=-1)


@expectations_hold.sabotage("something else was expected")
def _(case: Case) -> Case:
    for fact in case.records["expected"].facts:
        case = case.falsified(f"expected/{fact.name}")
    return case
