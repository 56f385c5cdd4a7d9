"""What the script handed by name to callables that refuse nothing: heard once at each place, told to the session.

Adapters call :func:`hand`; it costs them a look at the calling frame. What was heard before a training begins is told
again when it does, because an instrument is made anew then.

Blind to: a name that a library hands on, for the script or for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FrameType

from affidavit.attach.moment import Handed, TrainBegin
from affidavit.attach.session import Session

_MOST = 500
"""So many places are kept; a script with more of them makes its calls in a loop over code of its own."""

_heard: dict[tuple[object, ...], Handed] = {}


def is_new(frame: FrameType, *what: object) -> bool:
    """Whether nothing was heard yet from the place at which a frame stands, of a class or a template there."""
    return len(_heard) < _MOST and (frame.f_code, frame.f_lasti, *what) not in _heard


def hand(
    session: Session,
    frame: FrameType,
    callee: str,
    names: Iterable[str],
    *what: object,
    astray: Mapping[str, str],
    known: Iterable[str] = (),
    sure: Mapping[str, str] | None = None,
) -> None:
    """Tell what the script handed over in the call that a frame of its own is in the middle of."""
    names = tuple(names)
    if not names:
        return
    moment = Handed(
        callee=callee,
        names=names,
        astray=dict(astray),
        known=tuple(known) if astray or sure else (),
        sure=dict(sure or {}),
        path=frame.f_code.co_filename,
        line=frame.f_lineno,
    )
    place = (frame.f_code, frame.f_lasti, *what)
    _heard[place] = moment
    session.fire(moment)


def tell(moment: Handed, session: Session) -> None:
    """Tell what was handed over where no call can be pointed at, once a training."""
    session.fire(moment)


def describe(moment: TrainBegin, session: Session) -> None:
    """Tell again, to the instruments of this training, what was heard so far."""
    for heard in tuple(_heard.values()):
        session.fire(heard)
