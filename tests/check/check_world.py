"""A check small enough to hold in the head, and the cases that the engine is tested on."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Check, Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Tally, Value

FLASH = Tally.count("calls", {"flash": 4, "math": 0})
EXECUTED, KERNELS, KIND, MATCHED = "attention.executed", "attention.kernels", "adapter.kind", "adapter.matched"


def flash_ran() -> Check:
    """Return a fresh check over two needs, with its example and two sabotages."""

    @check("flash-ran", needs=(EXECUTED, KERNELS), landmine=Landmine.RESULT, unaffected="the loss")
    def judge(case: Case) -> Outcome:
        """The kernels that ran are flash kernels."""
        slow = [(ranks, value["math"]) for ranks, value in case.values(EXECUTED) if isinstance(value, Tally)]
        wrong = [(ranks, count) for ranks, count in slow if count]
        if wrong or case.value(KERNELS) != ("flash",):
            sites = tuple(Site(key=EXECUTED, rank=rank) for ranks, _ in wrong for rank in ranks)
            return Fail(expected="flash (the test)", saw=f"{wrong}", means="It is slow.", sites=sites)
        return Pass(examined=len(slow))

    @judge.healthy
    def _() -> Case:
        return case_of(run={EXECUTED: FLASH, KERNELS: ("flash",)}, ranks=2)

    @judge.sabotage("math ran on the last rank")
    def _(case: Case) -> Case:
        return case.altered(EXECUTED, FLASH.moved("flash", "math", 1), rank=-1)

    @judge.sabotage("another family is named")
    def _(case: Case) -> Case:
        return case.altered(KERNELS, ("math",))

    return judge


def healthy(ranks: int = 2, **roles: dict[str, Value]) -> Case:
    return case_of(run={EXECUTED: FLASH, KERNELS: ("flash",)}, ranks=ranks, **roles)
