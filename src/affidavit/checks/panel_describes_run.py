"""The panel was measured on the run it stands next to."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check


@check(
    "panel-describes-run",
    needs=("attention.kernels", "panel/attention.kernels"),
    landmine=Landmine.RESULT,
    unaffected="everything that was read from the run itself",
)
def panel_describes_run(case: Case) -> Outcome:
    """A panel profiled on another attention backend recommends changes to a run that never happened.

    Source: playbook §4.3. Blind to: two seats that run the same kernels at different shapes.
    """
    differences = case.differ("attention.kernels", "panel/attention.kernels")
    if differences:
        return Fail(
            expected=f"{differences[0].left} (executed in this run)",
            saw=f"{differences[0].right} (executed where the panel was profiled)",
            means="MFU, kernel table and advice of the panel describe another run.",
            sites=tuple(Site(key=place) for place in differences[0].where),
        )
    return Pass(examined=1)


@panel_describes_run.healthy
def _() -> Case:
    return case_of(run={"attention.kernels": ("flash",)}, panel={"attention.kernels": ("flash",)}, ranks=2)


@panel_describes_run.sabotage("the panel comes from a serving seat on the math kernel")
def _(case: Case) -> Case:
    return case.altered("panel/attention.kernels", ("somebody_elses",))


@panel_describes_run.sabotage("the last rank ran another kernel")
def _(case: Case) -> Case:
    return case.altered("attention.kernels", ("somebody_elses",), rank=-1)
