"""What can be said of any module that trains: which parts of it attend, where no framework says with what.

Blind to: attention in modules whose class is not named for it.
"""

from __future__ import annotations

from typing import Any

from affidavit.attach.moment import Asked, Configured, TrainBegin
from affidavit.attach.session import Session
from affidavit.fact.term import UNSTATED

OWN_CODE = "own code"
_NAMES = ("attention", "attn")


def describe(moment: TrainBegin, session: Session) -> None:
    """Say which modules attend, each by its own code; an adapter that knows their config says more after this.

    Torch has no argument by which attention is asked for, so nobody asked.
    """
    attending: dict[str, Any] = {
        path: module
        for path, module in moment.model.named_modules()  # type: ignore[attr-defined]
        if any(name in type(module).__name__.lower() for name in _NAMES)
    }
    inner = {path for path in attending if not any(other.startswith(f"{path}.") for other in attending)}
    source = "modules named for attention" if inner else "no module of the model is named for attention"
    session.fire(Asked(subject="attention", value=UNSTATED, source="torch takes no such argument"))
    session.fire(Configured(subject="attention", layers=dict.fromkeys(sorted(inner), OWN_CODE), source=source))
