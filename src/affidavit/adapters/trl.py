"""TRL → moments: whose tokens an SFT run asked to train on.

Source: trl 1.16 SFTConfig; hf-stack-spike §4 (masks that are ignored without a word).
Blind to: masks that rows bring with them; those are read from the labels, by the tokens instrument.
"""

from __future__ import annotations

from typing import Any

from affidavit.attach.moment import Asked, TrainBegin
from affidavit.attach.session import Describer, Session
from affidavit.fact.term import UNSTATED

BINDS: dict[str, Any] = {}
TURN = 2


def describe(moment: TrainBegin, session: Session) -> None:
    """Say which tokens the arguments of an SFTTrainer ask to supervise, "unstated" where they leave it to TRL."""
    arguments = moment.arguments
    if not hasattr(arguments, "assistant_only_loss") or not hasattr(arguments, "completion_only_loss"):
        return
    name = type(arguments).__name__
    if arguments.assistant_only_loss:
        asked, source = "assistant", f"{name}(assistant_only_loss=True)"
    elif arguments.completion_only_loss is True:
        asked, source = "completion", f"{name}(completion_only_loss=True)"
    elif arguments.completion_only_loss is False:
        asked, source = "every token", f"{name}(completion_only_loss=False)"
    else:
        asked, source = UNSTATED, f"{name} leaves completion_only_loss to the data"
    session.fire(Asked(subject="supervision", value=asked, source=source))
    wished = (getattr(arguments, "model_init_kwargs", None) or {}).get("attn_implementation")
    if wished:
        session.fire(Asked(subject="attention", value=str(wished), source=f"{name}(model_init_kwargs=…)"))


DESCRIBERS = (Describer(describe, subjects=("supervision",)),)
