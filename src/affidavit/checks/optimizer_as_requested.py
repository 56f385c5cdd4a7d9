"""The optimizer that was asked for is the one that steps, at the rate and with the decay that were asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.observation import Known
from affidavit.fact.values import Table, Value
from affidavit.record.ranks import written

NEEDS = (
    "optimizer.kind",
    "optimizer.learning_rate",
    "optimizer.weight_decay",
    "optimizer.settings",
    "optimizer.groups",
)
CLOSE = 1e-5
"""A rate that went through float32 on its way is still the same rate."""
ALIKE = {"AdamW": ("deepspeed.FusedAdam", "deepspeed.DeepSpeedCPUAdam", "apex.FusedAdam")}
"""What an engine steps with in the place of a class, doing the same."""


def is_any(asked: Value) -> bool:
    return bool(asked)


@check(
    "optimizer-as-requested",
    needs=NEEDS,
    when=(("optimizer.asked", is_any),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the data, the masks of the loss",
)
def optimizer_as_requested(case: Case) -> Outcome:
    """Arguments name one optimizer and the loop steps another: one passed in, one from a second config, a resumed one.

    The arguments are what a model card and a tracker show, so every record of the run agrees and all are wrong. A rate
    passes where one group has it: groups with rates of their own are a script's business.

    Source: playbook §4.3; anchors-provenance §1b; corpus L2-07, L2-13. Blind to: arguments that nobody named.
    """
    examined = 0
    for ranks, (kind, _, decay, settings, groups) in case.by_rank(*NEEDS):
        assert isinstance(decay, float) and isinstance(settings, tuple) and isinstance(groups, Table)
        rates = [float(rate) for rate in groups.column("learning_rate")]
        for rank in ranks:
            requests = {need: case.request(need, rank=rank) for need in NEEDS}
            judged = (
                ("optimizer.kind", str(kind), _is_kind(requests["optimizer.kind"], str(kind))),
                ("optimizer.learning_rate", _listed(rates), _is_among(requests["optimizer.learning_rate"], rates)),
                ("optimizer.weight_decay", f"{decay:g}", _is_among(requests["optimizer.weight_decay"], [decay])),
                ("optimizer.settings", ", ".join(settings), _are_kept(requests["optimizer.settings"], settings)),
            )
            wrong = [(need, saw) for need, saw, kept in judged if not kept]
            if wrong:
                asked = [(need, request) for need, _ in wrong if (request := requests[need]) is not None]
                source = f"{case.source('optimizer.kind')}, rank {written((rank,))}"
                return Fail(
                    expected=", ".join(f"{_word(need)} {_said(request)} ({request.source})" for need, request in asked),
                    saw=f"{', '.join(f'{_word(need)} {saw}' for need, saw in wrong)} ({source})",
                    means="The weights were moved by another rule than the arguments say.",
                    sites=tuple(Site(key=need, rank=rank) for need, _ in wrong),
                )
            examined += sum(request is not None for request in requests.values())
    return Pass(examined)


def _is_kind(request: Known | None, kind: str) -> bool:
    return request is None or kind == request.value or kind in ALIKE.get(str(request.value), ())


def _is_among(request: Known | None, values: Iterable[float]) -> bool:
    if request is None:
        return True
    assert isinstance(request.value, float)
    return any(math.isclose(request.value, value, rel_tol=CLOSE) for value in values)


def _are_kept(request: Known | None, settings: tuple[str, ...]) -> bool:
    """Say whether each number that was asked for is there, where the optimizer has one of that name."""
    if request is None:
        return True
    assert isinstance(request.value, tuple)
    names = {setting.partition("=")[0] for setting in settings}
    return all(wanted in settings for wanted in request.value if wanted.partition("=")[0] in names)


def _word(need: str) -> str:
    return need.partition(".")[2].replace("_", " ")


def _said(request: Known) -> str:
    if isinstance(request.value, tuple):
        return ", ".join(request.value)
    return f"{request.value:g}" if isinstance(request.value, float) else str(request.value)


def _listed(rates: Iterable[float]) -> str:
    values = sorted(set(rates), reverse=True)
    return " and ".join(f"{rate:g}" for rate in values[:3]) + (" and others" if len(values) > 3 else "")


@optimizer_as_requested.healthy
def _() -> Case:
    columns = ("groups", "tensors", "elements", "vectors", "learning_rate", "weight_decay", "path")
    rows = ((1, 10, 1000, 0, 5e-5, 0.1, "fused"), (1, 10, 100, 10, 5e-5, 0.0, "fused"))
    settings = ("betas=(0.9, 0.999)", "eps=1e-08")
    run: dict[str, Value] = {
        "optimizer.asked": ("kind", "learning_rate", "settings", "weight_decay"),
        "optimizer.kind": "AdamW",
        "optimizer.learning_rate": 5e-5,
        "optimizer.weight_decay": 0.1,
        "optimizer.settings": settings,
        "optimizer.groups": Table(columns, rows),
    }
    asked = {need: run[need] for need in NEEDS[:4]}
    return case_of(run=run, asked=asked, ranks=2)


@optimizer_as_requested.sabotage("another class was asked for")
def _(case: Case) -> Case:
    return case.asked("optimizer.kind", "somebody_elses")


@optimizer_as_requested.sabotage("another rate was asked for on the last rank")
def _(case: Case) -> Case:
    return case.asked("optimizer.learning_rate", 0.3, rank=-1)


@optimizer_as_requested.sabotage("another decay was asked for")
def _(case: Case) -> Case:
    return case.asked("optimizer.weight_decay", 0.7)


@optimizer_as_requested.sabotage("another number of the method was asked for")
def _(case: Case) -> Case:
    return case.asked("optimizer.settings", ("eps=1",)).altered("optimizer.settings", ("eps=2",))


@optimizer_as_requested.sabotage("no group has the rate that was asked for")
def _(case: Case) -> Case:
    rate = case.value("optimizer.learning_rate")
    assert isinstance(rate, float)

    def switch(groups: Table) -> Table:
        for row in range(len(groups.rows)):
            groups = groups.with_cell(row, "learning_rate", rate + 1.0)
        return groups

    return case.asked("optimizer.learning_rate", rate).altered("optimizer.groups", switch)
