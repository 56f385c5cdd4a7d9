"""What the project has accepted is what this run resolved to."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.record.compare import Difference, differ
from affidavit.record.owner import is_requested
from affidavit.record.sentence import clipped, phrased, sentence


@check(
    "lock-holds",
    needs=("lock/*",),
    landmine=Landmine.RESULT,
    unaffected="every accepted fact that is not named here",
)
def lock_holds(case: Case) -> Outcome:
    """Defaults move under unchanged scripts: after an upgrade attention goes from flash to math and nobody asked.

    The lock holds what the project saw and accepted; a run that resolves otherwise contradicts it, unless its script
    asks for that by name now.

    Source: DESIGN §2. Blind to: what the lock does not hold.
    """
    names = _locked(case)
    differences = differ(case.records["lock"], case.subject, names, episode=case.episode)
    if differences:
        said = [_said(case, found) for found in differences]
        return Fail(
            expected="; ".join(held for held, _ in said) + " (affidavit.lock)",
            saw="; ".join(saw for _, saw in said) + " (this run)",
            means="This run differs from the accepted one in what nobody asked for.",
            action='Run "affidavit accept" to accept it, or find what moved it.',
            sites=tuple(Site(path="affidavit.lock", key=found.name) for found in differences),
        )
    return Pass(examined=len(names))


def _said(case: Case, found: Difference) -> tuple[str, str]:
    """Return what the lock and the run say, in English; parts of it where the same words would stand for both."""
    term = case.vocabulary[found.name]
    held, saw = (
        " and ".join(sentence(term, value) for _, value in case.values(need)) or text
        for need, text in ((f"lock/{found.name}", found.left), (found.name, f"{found.name} {found.right}"))
    )
    return (held, saw) if held != saw else (phrased(term, clipped(found.left)), "; ".join(found.where) or found.right)


def _locked(case: Case) -> list[str]:
    """Return the terms that the lock holds for the training at hand and that its script does not ask for, each once."""
    names = dict.fromkeys(fact.name for fact in case.records["lock"].facts)
    return [name for name in names if case.facts(f"lock/{name}") and not is_requested(case.subject, name)]


@lock_holds.healthy
def _() -> Case:
    accepted = {"attention.kernels": ("flash",), "tokens.supervised_roles": ("assistant",)}
    return case_of(run=accepted, lock=accepted, ranks=2)


@lock_holds.sabotage("an upgrade moved a default")
def _(case: Case) -> Case:
    return case.falsified(_locked(case)[0])


@lock_holds.sabotage("the last rank resolved otherwise")
def _(case: Case) -> Case:
    return case.falsified(_locked(case)[-1], rank=-1)


@lock_holds.sabotage("the lock was edited by hand")
def _(case: Case) -> Case:
    for name in _locked(case):
        case = case.falsified(f"lock/{name}")
    return case
