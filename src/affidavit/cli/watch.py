"""``affidavit watch``: whether a run lives, from another shell or another host, and what rings when it does not."""

from __future__ import annotations

import contextlib
import datetime
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from affidavit.cli import page
from affidavit.cli.parameter import example, json_option, run_argument
from affidavit.cli.project import here
from affidavit.report import liveness as report
from affidavit.report.document import encode
from affidavit.report.terminal import draw, wants_colour
from affidavit.run.liveness import alarm, stacks
from affidavit.run.liveness.budget import Budgets, within
from affidavit.run.liveness.look import Watcher
from affidavit.run.liveness.stacks import Stacks
from affidavit.run.liveness.verdict import Judgement, Liveness

EVERY_SECONDS = 5.0
PING_SECONDS = 30.0
_HANGS = (Liveness.STALLED, Liveness.UNINTERRUPTIBLE)
_VERDICTS = tuple(one.value for one in Liveness)


@click.command(
    short_help="Say whether a run lives and takes steps.", epilog=example("affidavit watch last --on STALLED 'page me'")
)
@run_argument
@click.option("--follow", is_flag=True, help="Look on until the run is over.")
@click.option("--within", "seconds", type=float, help="Call it STALLED after so many seconds without a step.")
@click.option(
    "--every", type=click.FloatRange(min=0.1), default=EVERY_SECONDS, show_default=True, help="Seconds between looks."
)
@click.option(
    "--on",
    "hooks",
    type=(click.Choice(_VERDICTS, case_sensitive=False), str),
    multiple=True,
    metavar="VERDICT COMMAND",
    help="Run COMMAND in a shell when the verdict becomes VERDICT.",
)
@click.option("--webhook", default="", metavar="URL", help="Post each change of the verdict there, as JSON.")
@click.option("--ping", default="", metavar="URL", help="Call this while the run is ALIVE: its absence pages.")
@json_option
def command(
    run: str,
    follow: bool,
    seconds: float | None,
    every: float,
    hooks: tuple[tuple[str, str], ...],
    webhook: str,
    ping: str,
    as_json: bool,
) -> int:
    """Say in one word whether a run lives and takes steps, and what shows it.

    ALIVE, FINISHED, STALLED, STOPPED, UNINTERRUPTIBLE, ZOMBIE, DEAD or UNKNOWN. How long a step may take is learnt from
    the run. Of a run on another host only the run folder is read. Exit code 0 where it is ALIVE or FINISHED, 4 where
    nobody can say, else 1.

    A COMMAND of --on reads AFFIDAVIT_RUN, AFFIDAVIT_RUN_FOLDER, AFFIDAVIT_VERDICT, AFFIDAVIT_VERDICT_BEFORE and
    AFFIDAVIT_WHY.
    """
    budgets = Budgets() if seconds is None else within(seconds)
    alarms = Alarms(hooks=hooks, webhook=alarm.checked(webhook) if webhook else "", ping=_checked(ping))
    found = here().find(run)
    watcher = Watcher(found.folder, budgets)
    try:
        with _screen(as_json, follow) as show:
            while True:
                said = watcher.look()
                kept = alarms.ring(said, found.folder)
                show(said, kept)
                if not follow or said.is_over:
                    return said.liveness.exit_code
                time.sleep(every)
    finally:
        watcher.close()


def _checked(url: str) -> str:
    return alarm.checked(url) if url else ""


@dataclass
class Alarms:
    """What rings at each change of the verdict, once; the first verdict is a change."""

    hooks: tuple[tuple[str, str], ...] = ()
    webhook: str = ""
    ping: str = ""
    before: Liveness | None = None
    _pinged: float | None = field(default=None, init=False)

    def ring(self, said: Judgement, folder: Path) -> tuple[Stacks, ...]:
        """Do all that this verdict asks for, and return the stacks that were kept of a run that hangs."""
        self._ping(said)
        if said.liveness is self.before:
            return ()
        kept: tuple[Stacks, ...] = ()
        if said.liveness in _HANGS:
            hanging = [one for one, its in said.ranks if its.liveness in _HANGS] and [one for one, _ in said.ranks]
            kept = stacks.keep(folder, said.evidence.attempt, hanging, stamp=f"{_now():%Y%m%dT%H%M%SZ}")
        told = {
            "AFFIDAVIT_RUN": said.evidence.run,
            "AFFIDAVIT_RUN_FOLDER": str(folder),
            "AFFIDAVIT_VERDICT": said.liveness.value,
            "AFFIDAVIT_VERDICT_BEFORE": self.before.value if self.before else "",
            "AFFIDAVIT_WHY": "; ".join(said.why),
        }
        self.before = said.liveness
        problems = [alarm.run_hook(hook, told) for verdict, hook in self.hooks if verdict == said.liveness.value]
        if self.webhook:
            problems.append(alarm.post(self.webhook, report.document(said, kept)))
        page.tell(problem for problem in problems if problem)
        return kept

    def _ping(self, said: Judgement) -> None:
        if not self.ping or said.liveness is not Liveness.ALIVE:
            return
        now = time.monotonic()
        if self._pinged is None or now - self._pinged >= PING_SECONDS:
            self._pinged = now
            if problem := alarm.ping(self.ping):
                page.tell([problem])


Show = Callable[[Judgement, tuple[Stacks, ...]], None]


@contextlib.contextmanager
def _screen(as_json: bool, follow: bool) -> Iterator[Show]:
    """Give what shows a verdict: once, a line at each change, or, on a terminal, a picture that is drawn anew."""
    if not follow:
        yield _json if as_json else _once
    elif as_json or not sys.stdout.isatty():
        yield _Changes(as_json)
    else:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with Live(console=Console(), auto_refresh=False) as live:

            def redraw(said: Judgement, kept: tuple[Stacks, ...]) -> None:
                colour, width = wants_colour(sys.stdout), live.console.width
                if kept:
                    live.console.print(Text.from_ansi(draw(report.lines(said, kept, stamp=_stamp()), width=width)))
                drawn = draw(report.screen(said, stamp=_stamp()), colour=colour, width=width)
                live.update(Text.from_ansi(drawn), refresh=True)

            yield redraw


def _once(said: Judgement, kept: tuple[Stacks, ...]) -> None:
    page.show(report.lines(said, kept))


def _json(said: Judgement, kept: tuple[Stacks, ...]) -> None:
    page.say(report.document(said, kept))


class _Changes:
    """Shows a verdict where it differs from the one before: a log is read later, and not while it grows."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._before: Liveness | None = None

    def __call__(self, said: Judgement, kept: tuple[Stacks, ...]) -> None:
        if said.liveness is self._before:
            return
        self._before = said.liveness
        if self._as_json:
            click.echo(json.dumps(json.loads(encode(report.document(said, kept)))))
        else:
            page.show(report.lines(said, kept, stamp=_stamp()))
        sys.stdout.flush()


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _stamp() -> str:
    return f"{_now():%H:%M:%SZ}"
