"""What an adapter brings beside what it binds: its account of a model that begins to train, and of who we are."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from affidavit.attach.guard import TimeLimitPassed, describe, run_limited
from affidavit.attach.hooks import HOOK_SECONDS
from affidavit.attach.moment import Moment, TrainBegin, Unheard
from affidavit.attach.neutral import neutral
from affidavit.fact.observation import Cause

if TYPE_CHECKING:
    from affidavit.attach.session import Session


@dataclass(frozen=True)
class Standing:
    """Where a process stands among its peers, as the framework says once it is known."""

    rank: int
    world: int
    backend: str = ""


@dataclass(frozen=True)
class Describer:
    """An adapter's account of one side of a training that begins.

    Where it fails, what waits for a moment that it ``shows`` is Unknown, and so are the terms in ``subjects``, whose
    request nobody heard.
    """

    describe: Callable[[TrainBegin, Session], None]
    shows: tuple[type[Moment], ...] = ()
    subjects: tuple[str, ...] = ()


def describe_training(moment: TrainBegin, session: Session, describers: Iterable[Describer]) -> None:
    """Let every adapter whose framework is in this process say what it knows of the model that begins to train."""
    for describer in describers:
        try:
            with neutral(tuple(session.keepers)):
                run_limited(HOOK_SECONDS, functools.partial(describer.describe, moment, session))
        except (Exception, TimeLimitPassed) as error:  # noqa: BLE001  what it would have shown is Unknown
            why = f"{describer.describe.__module__} could not describe the model: {describe(error)}"
            for kind in describer.shows:
                session.unwatched(kind, Cause.INSTRUMENT_FAILED, why, overrule=True)
            for subject in describer.subjects:
                session.fire(Unheard(subject=subject, cause=Cause.INSTRUMENT_FAILED, why=why))
