"""Each adapter runs with the rank, scale and dropout that its config says."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, check
from affidavit.fact.values import Layers, Value
from affidavit.record.ranks import written


def are_set(settings: Value) -> bool:
    return isinstance(settings, Layers) and bool(settings.runs)


@check(
    "adapter-as-configured",
    needs=("adapter.settings",),
    when=(("adapter.settings", are_set),),
    landmine=Landmine.RESULT,
    unaffected="which modules carry an adapter, the data, the masks of the loss",
)
def adapter_as_configured(case: Case) -> Outcome:
    """A config that is changed after the adapters were made changes nothing but the file that is saved.

    A sweep over rank or alpha then trains one setting under many names, and who loads the file gets another scale than
    was trained.

    Source: peft 0.21 tuners/lora (scale is set once). Blind to: kinds of adapters without a rank.
    """
    examined = 0
    for ranks, settings in case.values("adapter.settings"):
        assert isinstance(settings, Layers)
        asked = case.request("adapter.settings", rank=ranks[0])
        live = settings.expand()
        wanted = asked.value.expand() if asked is not None and isinstance(asked.value, Layers) else live
        others = [path for path, setting in live.items() if wanted.get(path) != setting]
        if others and asked is not None:
            first = others[0]
            return Fail(
                expected=f"{wanted.get(first, 'no adapter')} ({asked.source})",
                saw=f"{live[first]} in {len(others)} of {len(live)} adapted modules (rank {written(ranks)})",
                means="The saved config describes another adapter than the one that trains.",
                sites=tuple(Site(key=path, rank=ranks[0]) for path in others[:8]),
            )
        examined += len(live)
    return Pass(examined)


@adapter_as_configured.healthy
def _() -> Case:
    settings = Layers.of({f"layers.{place}.q_proj": "rank 8, scale 2, dropout 0.05" for place in range(4)})
    return case_of(run={"adapter.settings": settings}, asked={"adapter.settings": settings}, ranks=2)


@adapter_as_configured.sabotage("one module runs with another scale")
def _(case: Case) -> Case:
    def rescale(settings: Layers) -> Layers:
        return settings.with_layer(next(iter(settings.expand())), "rank 8, scale 1000, dropout 0")

    return case.asked("adapter.settings", case.value("adapter.settings")).altered("adapter.settings", rescale, rank=-1)


@adapter_as_configured.sabotage("the config asks for another adapter")
def _(case: Case) -> Case:
    return case.altered(
        "adapter.settings", lambda settings: Layers.of(dict.fromkeys(settings.expand(), "rank 1"))
    ).asked("adapter.settings", case.value("adapter.settings"))
