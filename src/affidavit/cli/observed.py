"""A training command under observation, as ``run`` and ``preflight`` start it: judged before, while, and after."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from affidavit.check.finding import Finding, Verdict
from affidavit.cli import page
from affidavit.cli.complaint import complain, crash_report
from affidavit.cli.judgement import before, judged
from affidavit.cli.project import Project, today
from affidavit.fact.errors import AffidavitError
from affidavit.record.fold import corrections
from affidavit.record.lock import LockError, locked_recipes
from affidavit.record.record import Kind
from affidavit.record.runs import RunFolder
from affidavit.report import text
from affidavit.report.statement import Statement
from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run import names, numbers
from affidavit.run.attempt import Ended
from affidavit.run.command import read_command
from affidavit.run.launch import Prepared, prepare
from affidavit.run.outset import examine
from affidavit.run.proofs.standing import Inquiry
from affidavit.run.supervise import refuse, supervise
from affidavit.run.tracker.tag import announced
from affidavit.run.tree import GateAnswer

STOPPING = (Verdict.FAIL,)
PLACES_SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a person asked for on the command line; an empty value leaves it to affidavit.toml."""

    argv: tuple[str, ...]
    kind: Kind = Kind.RUN
    steps: int = 2
    tree: str = ""
    reason: str = ""
    recipe: str = ""
    tokens: str = ""
    names: str = ""
    numbers: str = ""
    stop_on: tuple[str, ...] = ()
    strict: bool = False


@dataclass
class Observed:
    """One command from before its start to its seal; what is said goes to stderr, stdout is the command's."""

    project: Project
    order: Order
    prepared: Prepared
    shown: tuple[tuple[str, Verdict], ...] = ()
    is_refused: bool = False

    @property
    def run(self) -> RunFolder:
        return RunFolder(id=self.prepared.start.run, folder=self.prepared.folder, started_ns=0)

    def start(self) -> Ended:
        """Run the command to its end, unless the tree gate refuses it.

        Raises:
            CommandError: it cannot be started.
        """
        answer = self._gate()
        self.prepared.state(answer.facts)
        known = before(self.project, answer.facts, title=self.run.id)
        page.show(text.brief(known, *answer.lines, corrections=self._corrections()), sys.stderr)
        self._lock()
        refused = answer.refusal or self._refused_by_text(known)
        if refused:
            complain(refused)
            self.is_refused = True
            return refuse(self.prepared, refused.partition("\n")[0])
        return supervise(self.prepared, on_live=self.on_live)

    def _gate(self) -> GateAnswer:
        settings = self.project.settings
        return examine(
            self.prepared.command,
            project=self.project.root,
            environment=os.environ,
            settings=settings,
            house=self.project.house,
            gate=self.order.tree or settings.gate,
            reason=self.order.reason or settings.gate_reason,
            run=self.prepared.snapshot_name,
            inquiry=self._inquiry(),
        )

    def _inquiry(self) -> Inquiry:
        """Return how much is done about guards and gates: a rehearsal proves what is due, a run only looks."""
        is_rehearsal = self.order.kind is Kind.REHEARSAL
        verb = "preflight" if is_rehearsal else "run"
        return Inquiry(as_of=today(), verb=verb, proves=is_rehearsal, say=lambda said: page.tell([said]))

    def _refused_by_text(self, known: Statement) -> str:
        """Return why a command may not start whose files name what nothing takes, or say a number that was taken back.

        "" where it may; a waiver lets it.
        """
        settings = self.project.settings
        gates = (
            (names.CHECK, self.order.names or settings.names, "names"),
            (numbers.CHECK, self.order.numbers or settings.numbers, "numbers"),
        )
        is_rehearsal = self.order.kind is Kind.REHEARSAL
        for check, gate, key in gates:
            found = next((found for found in known.decision.blocking if found.check == check), None)
            if gate == "refuse" and found is not None and found.verdict in STOPPING:
                setting = f'{key} = "tell" under [run] in affidavit.toml'
                return refused_places(found, setting if is_rehearsal else f'"--{key} tell"')
        return ""

    def _corrections(self) -> tuple[str, ...]:
        """Return what was said later of earlier runs of this recipe, the newest run first.

        A run whose chain is broken says nothing here, and says so to whoever opens it.
        """
        found: list[str] = []
        for run in reversed(self.project.runs()):
            with contextlib.suppress(AffidavitError):
                found += (f"{run.id}: {said}" for said in corrections(run.folder, self.prepared.start.recipe))
        return tuple(found)

    def _lock(self) -> None:
        """Say now, and not after three days of training, that nothing can be held against the lock."""
        try:
            locked_recipes(self.project.lock_path)
        except LockError as error:
            complain(str(error))

    def on_live(self, folder: Path) -> str:
        """Show what the real run resolved to, and return why it must end where a check it was told to heed fails."""
        said = judged(self.project, self.run)
        self._show(said)
        failed = [found.check for found in said.findings if found.verdict in STOPPING]
        stopping = [check for check in self.order.stop_on if check in failed]
        return f"--stop-on {', '.join(stopping)}" if stopping else ""

    def conclude(self) -> Statement | None:
        """Seal, show in full what nobody has been shown before, else one line, and return what was found.

        Whatever goes wrong with that is said and returned as None: it must not become the exit code of a training run.
        """
        try:
            said = judged(self.project, self.run, strict=self.order.strict)
        except AffidavitError as error:
            complain(str(error))
            return None
        except Exception as error:  # noqa: BLE001  said, and kept as a trace; the command's own exit code stands
            complain(crash_report(error))
            return None
        if self.is_refused or (self.shown and _loud(said) <= {*self.shown}):
            page.show(_sealed(said), sys.stderr)
        else:
            self._show(said)
        return said

    def _show(self, said: Statement) -> None:
        self.shown = _verdicts(said)
        page.show(text.report(said), sys.stderr)


def observe(project: Project, order: Order) -> Observed:
    """Return a command that is ready to start, with its run folder and its launch file.

    Raises:
        CommandError: there is no such program.
        RunFolderError, SpoolError: there is no place to record.
    """
    command = read_command(order.argv, cwd=Path.cwd(), environment=os.environ)
    settings = project.settings
    prepared = prepare(
        command,
        project=project.root,
        environment=os.environ,
        recipe=order.recipe,
        kind=order.kind,
        steps=order.steps,
        tokens=order.tokens or settings.tokens,
        marks=settings.marks,
        canary_seconds=settings.canary_seconds,
        plugins=project.house.plugins,
    )
    if settings.tracker != "none":
        prepared = replace(prepared, environment=announced(prepared.environment, prepared.start.run))
    return Observed(project=project, order=order, prepared=prepared)


def refused_places(found: Finding, way_out: str) -> str:
    """Return the message of a finding that keeps a command from being started, place by place."""
    places = [f"  {site}" for site in found.sites[:PLACES_SHOWN]]
    places += [f"  and {len(found.sites) - PLACES_SHOWN} more places"] if len(found.sites) > PLACES_SHOWN else []
    first, *rest = found.message.split("\n")
    told = f"The command was not started. To start it all the same: {way_out}."
    return "\n".join([first, *places, *rest[:-1], told, *rest[-1:]])


def _verdicts(said: Statement) -> tuple[tuple[str, Verdict], ...]:
    return tuple((found.check, found.verdict) for found in said.findings)


def _loud(said: Statement) -> set[tuple[str, Verdict]]:
    """Return what a reader must hear of: that something passes by now which was undecided at step 2 is no news."""
    quiet = (Verdict.PASS, Verdict.NOT_APPLICABLE)
    return {(found.check, found.verdict) for found in said.findings if found.verdict not in quiet}


def _sealed(said: Statement) -> Iterable[Line]:
    """Yield the last line of a run; how much did not apply to it stands in the report above."""
    counted = [(verdict, count) for verdict, count in said.decision.counts if verdict is not Verdict.NOT_APPLICABLE]
    counts = ", ".join(f"{count} {verdict.value}" for verdict, count in counted or said.decision.counts)
    yield line(Span("affidavit", Tone.STRONG), f" {said.title} · {said.status} · {counts}")
