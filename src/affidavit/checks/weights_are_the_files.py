"""The weights that begin to train are those of the files that the model was loaded from."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Review, Site, Verdict, check
from affidavit.fact.values import Layers, Tally, Value
from affidavit.record.ranks import written

UNLIKE = "unlike the file"
NEW_PART = "of a new part not in the file"
MISSING = "missing among loaded layers"
LOUD = (UNLIKE, MISSING)


def was_loaded(loaded: Value) -> bool:
    return isinstance(loaded, Tally) and loaded.total > 0


@check(
    "weights-are-the-files",
    needs=("weights.loaded", "weights.strangers"),
    when=(("weights.loaded", was_loaded),),
    landmine=Landmine.RESULT,
    unaffected="the data, the masks of the loss, the code",
)
def weights_are_the_files(case: Case) -> Outcome:
    """A loader that fits no name makes the weights anew and warns at most; the run then trains noise, and learns.

    A new head on a loaded model is by design and only counted. Most of a model that is not in its files is a failed
    load; some layers of a loaded stack, or values that do not go together with the file, are shown until confirmed.

    Source: playbook §4.3; silent-failure-corpus L3-71, L3-72. Blind to: the middle of each weight; a file that is
    itself the wrong one.
    """
    examined = 0
    for ranks, (loaded, strangers) in case.by_rank("weights.loaded", "weights.strangers"):
        assert isinstance(loaded, Tally) and isinstance(strangers, Layers)
        strange = loaded[UNLIKE] + loaded[MISSING] + loaded[NEW_PART]
        if 2 * strange > loaded.total:
            return Fail(
                expected=f"{loaded.total} weights from the files of the model",
                saw=f"{loaded} (live weights when training began, rank {written(ranks)})",
                means="Most of the model is random: the training starts from nothing.",
                sites=_sites(strangers, (UNLIKE, MISSING, NEW_PART), ranks),
            )
        if loaded[UNLIKE] or loaded[MISSING] or not {UNLIKE, MISSING}.isdisjoint(strangers.kinds):
            return Review(
                expected=f"{loaded.total} weights from the files of the model, or of a new part of it",
                saw=f"{loaded} (live weights when training began, rank {written(ranks)})",
                means="Part of the loaded model was made anew.",
                accept=("weights.strangers",),
                sites=_sites(strangers, LOUD, ranks),
            )
        examined += loaded.total - loaded[NEW_PART]
    return Pass(examined)


def _sites(strangers: Layers, kinds: tuple[str, ...], ranks: tuple[int, ...]) -> tuple[Site, ...]:
    return tuple(Site(key=name, rank=ranks[0]) for name, what in strangers.runs if what in kinds)


@weights_are_the_files.healthy
def _() -> Case:
    head = {"score.weight": NEW_PART}
    run: dict[str, Value] = {
        "weights.loaded": Tally.count("tensors", {"as in the file": 40, NEW_PART: 1}),
        "weights.strangers": Layers.of(head),
    }
    return case_of(run=run, ranks=2)


@weights_are_the_files.sabotage("on the last rank no name of the file fits the model")
def _(case: Case) -> Case:
    return case.altered("weights.loaded", lambda loaded: loaded.plus(NEW_PART, 1 + 2 * loaded.total), rank=-1)


@weights_are_the_files.sabotage("a subclass makes its weights anew after they were loaded")
def _(case: Case) -> Case:
    return case.altered("weights.loaded", lambda loaded: loaded.plus(UNLIKE, 1 + 2 * loaded.total))


@weights_are_the_files.sabotage("the upper layers were made anew after loading", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("weights.strangers", Layers.of({"model.layers.11.mlp.weight": UNLIKE}))


@weights_are_the_files.sabotage("the config asks for two layers that the file does not have", expect=Verdict.REVIEW)
def _(case: Case) -> Case:
    return case.altered("weights.loaded", lambda loaded: loaded.plus(MISSING, 18))
