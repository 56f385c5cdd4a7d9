"""The hooks of a session: what adapters left to be called at a moment, at the end of the live window, or before a fork.

Blind to: a hook that is in native code when its time is up; it is not interrupted there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from affidavit.attach.guard import TimeLimitPassed, describe, run_limited
from affidavit.attach.moment import Moment

HOOK_SECONDS = 4.0
"""The longest that an adapter may take to describe a model, or to let go at the end of the sampled step."""

Hook = Callable[[], None]


@dataclass
class _Alarm:
    kind: type[Moment]
    left: int
    then: Hook


class Hooks:
    """Each is called under a time limit; one that fails is noted, and what it would have shown stays unseen."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self.at_live: list[Hook] = []
        self.at_fork: list[Hook] = []
        self._alarms: list[_Alarm] = []
        self._note = note

    def after(self, kind: type[Moment], count: int, then: Hook) -> None:
        """Call ``then`` once, when the ``count``-th moment of this kind from now on comes."""
        self._alarms.append(_Alarm(kind, count, then))

    def heard(self, kind: type[Moment]) -> None:
        """Say that such a moment came, and call what waited for it."""
        for alarm in self._alarms:
            alarm.left -= kind is alarm.kind
        due = [alarm for alarm in self._alarms if alarm.left <= 0]
        self._alarms = [alarm for alarm in self._alarms if alarm.left > 0]
        for alarm in due:
            self._call(alarm.then)

    def end_live(self) -> None:
        """Let adapters drop what they hold in the sampled step; what waits for a moment of it waits no longer."""
        self._call_all(self.at_live)
        self.at_fork.clear()
        self._alarms.clear()

    def before_fork(self) -> None:
        """Stop what would go on in a forked child, where nothing of ours would ever end it."""
        self._call_all(self.at_fork)
        self.at_fork.clear()

    def _call_all(self, hooks: list[Hook]) -> None:
        for hook in tuple(hooks):  # it may take itself out of the list
            self._call(hook)

    def _call(self, hook: Hook) -> None:
        try:
            run_limited(HOOK_SECONDS, hook)
        except (Exception, TimeLimitPassed) as error:  # noqa: BLE001  an adapter's error is ours, never the run's
            self._note(f"{hook.__module__} did not finish: {describe(error)}")
