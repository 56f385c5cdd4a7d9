"""All that a verdict may look at, and nothing that it would have to look up."""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.attach.heartbeat import Phase
from affidavit.record.manifest import Status
from affidavit.run.liveness.budget import Allowance
from affidavit.run.process import State


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a supervisor says that its command ended."""

    status: Status
    code: int
    signal: int = 0


@dataclass(frozen=True, kw_only=True)
class Supervisor:
    """One supervisor and its command, as they are seen from here.

    ``silent_seconds`` is how old its last word is, for one that is ELSEWHERE. ``child`` is None where the command was
    not started yet, or nobody wrote down who it is.
    """

    host: str
    state: State
    pid: int = 0
    child: State | None = None
    child_pid: int = 0
    ended: Ending | None = None
    silent_seconds: float | None = None

    @property
    def is_gone(self) -> bool:
        return self.state in (State.GONE, State.ZOMBIE)


@dataclass(frozen=True, kw_only=True)
class Rank:
    """One process that trained. ``age_seconds`` is how long ago its loop came on, None where ``why`` nobody can say.

    Args:
        is_newest: no later process of the attempt has the same rank.
        is_command: it is the supervisor's own child, whose exit code is seen.
        is_own_supervisor: it watches itself, as a notebook does, so that no step need ever follow.
        closed: how its journal ended, "" where it did not.
        error: what it ended with, or its last training; ``is_open`` says that a loop which tells its end has not.
        is_plain: nobody says when its loop is over.
        is_unwatched: it trained so often that no further training is watched.
        behind: so many steps behind the rank that is furthest.
    """

    rank: int
    world: int
    pid: int
    host: str
    state: State
    step: int = 0
    phase: Phase | None = None
    age_seconds: float | None = None
    why: str = ""
    allowed: Allowance
    is_newest: bool = True
    is_command: bool = False
    is_own_supervisor: bool = False
    closed: str = ""
    error: str = ""
    is_open: bool = False
    is_plain: bool = False
    is_unwatched: bool = False
    behind: int = 0


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that a verdict may look at.

    ``unstarted_seconds`` is how long ago the command was started, None where nobody can say, and ``is_attached``
    whether any process of it was reached. ``lost`` is what the journals say of how the attempt ended where its
    supervisor is gone without a word; FINISHED there is an orderly end whose exit code nobody saw.
    """

    run: str
    attempt: int
    supervisors: tuple[Supervisor, ...]
    ranks: tuple[Rank, ...]
    loading: Allowance
    unstarted_seconds: float | None = None
    is_attached: bool = False
    lost: Status | None = None
    notes: tuple[str, ...] = ()
