"""Every module name that was asked to be adapted matched a module."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Tally, Value


def is_adapted(kind: Value) -> bool:
    return kind != "none"


@check(
    "adapter-targets-matched",
    needs=("adapter.targets", "adapter.matched"),
    when=(("adapter.kind", is_adapted),),
    landmine=Landmine.RESULT,
    unaffected="the attention, the masks of the loss, the code",
)
def adapter_targets_matched(case: Case) -> Outcome:
    """One mistyped name among several is dropped without a word, and the adapter's config still lists it.

    The run trains fewer modules than its config claims, in every checkpoint it saves.

    Source: playbook §4.3; hf-stack-spike §1. Blind to: a pattern that matched fewer modules than meant.
    """
    examined = 0
    for ranks, (resolved, matched) in case.by_rank("adapter.targets", "adapter.matched"):
        assert isinstance(resolved, tuple) and isinstance(matched, Tally)
        for rank in ranks:
            request = case.request("adapter.targets", rank=rank)
            asked = request.value if request else resolved
            assert isinstance(asked, tuple)
            missing = [name for name in asked if not matched[name] or name not in resolved]
            if missing:
                return Fail(
                    expected=f"{', '.join(asked)} adapted ({request.source if request else 'the live model'})",
                    saw=f"no module named {', '.join(missing)}; matched {matched} (live modules, rank {rank})",
                    means="The adapter trains fewer modules than its config claims.",
                    sites=tuple(Site(key=name, rank=rank) for name in missing),
                )
            examined += len(asked)
    return Pass(examined)


@adapter_targets_matched.healthy
def _() -> Case:
    run: dict[str, Value] = {
        "adapter.kind": "lora",
        "adapter.targets": ("q_proj", "v_proj"),
        "adapter.matched": Tally.count("modules", {"q_proj": 4, "v_proj": 4}),
    }
    return case_of(run=run, ranks=2, asked={"adapter.targets": ("q_proj", "v_proj")})


@adapter_targets_matched.sabotage("a mistyped name is asked for beside the good ones")
def _(case: Case) -> Case:
    request = case.request("adapter.targets")
    assert request is not None and isinstance(request.value, tuple)
    return case.asked("adapter.targets", (*request.value, "v_prj"))


@adapter_targets_matched.sabotage("only the last rank asked for the mistyped name")
def _(case: Case) -> Case:
    request = case.request("adapter.targets", rank=case.subject.world - 1)
    assert request is not None and isinstance(request.value, tuple)
    return case.asked("adapter.targets", (*request.value, "v_prj"), rank=-1)


@adapter_targets_matched.sabotage("on the last rank a name matched nothing")
def _(case: Case) -> Case:
    def lose(matched: Tally) -> Tally:
        return matched.plus(matched.kinds[0], -matched[matched.kinds[0]])

    return case.altered("adapter.matched", lose, rank=-1)


@adapter_targets_matched.sabotage("the live model resolved fewer names")
def _(case: Case) -> Case:
    return case.altered("adapter.targets", lambda names: names[1:])
