"""Mixed precision as the arguments of a Trainer and its environment ask for it.

``bf16=False`` asks for 32 bits, as its help says; where nobody named it, it is no request.

Source: transformers 4.57 and 5.24 training_args (``__post_init__``: the environment decides where neither flag is
set; in 4.57 the flags are written into it).
Blind to: what DeepSpeed's own file says.
"""

from __future__ import annotations

import os
from typing import Any

from affidavit.adapters.transformers.arguments import PRECISION, is_set, outside_before
from affidavit.attach.moment import Asked, Implied, TrainBegin
from affidavit.attach.session import Session
from affidavit.fact.term import UNSTATED

NAMES_NOTHING = ("", "no")


def describe(moment: TrainBegin, session: Session) -> None:
    """Say which precision the arguments ask for by name, what the environment asks for, or else who decided."""
    arguments: Any = moment.arguments
    if not hasattr(arguments, "bf16") or not hasattr(arguments, "fp16"):
        return
    kind = type(arguments).__name__
    named = {name: bool(getattr(arguments, name)) for name in ("bf16", "fp16") if is_set(arguments, name)}
    by_flags = "fp16" if arguments.fp16 else "bf16" if arguments.bf16 else "no"
    if by_flags in named:
        asked, source = by_flags, f"{kind}({by_flags}=True)"
    elif "bf16" in named and by_flags == "no":
        asked, source = "float32", f"{kind}(bf16=False)"
    else:
        asked, source = UNSTATED, f"{kind} names no precision"
    session.fire(Asked(subject="precision", value=asked, source=source))
    outside = os.environ.get(PRECISION, "").lower()
    if outside == by_flags and outside_before(arguments) in NAMES_NOTHING:
        outside = ""  # the arguments wrote it there themselves
    if outside not in NAMES_NOTHING and (asked != UNSTATED or outside != by_flags):
        session.fire(Asked(subject="precision outside", value=outside, source=f"environment: {PRECISION}={outside}"))
    by_environment = by_flags == "no" and outside not in NAMES_NOTHING
    flags = "bf16=False, fp16=False" if by_flags == "no" else f"{by_flags}=True"
    owner = f"environment: {PRECISION}={outside}" if by_environment else f"default of {kind}: {flags}"
    if asked == UNSTATED:
        session.fire(Implied(subject="precision.matmul_types", owner=owner))
