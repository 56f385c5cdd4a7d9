"""Measures a command: runs it as often as it is told to, and keeps the number with all that it was true of.

What it covers is digested before the first run and again after the last: code that was edited in between was measured
in part, and that is no measurement. What the command prints goes to standard error, as our own answer goes to output.
Who stops us stops the command, and what its earlier runs gave is said.

Source: the wall time, by a clock that never goes back, from before the command is started until it has ended.
Blind to: the processor's time; what the run before left warm; what the command leaves to the background.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.attach.redact import redact
from affidavit.observe.error import ObserveError
from affidavit.observe.interpreter import Interpreter
from affidavit.record import covered
from affidavit.record.measurement import Measurement
from affidavit.run.attempt import now
from affidavit.run.command import Command, read_command
from affidavit.run.measure import identity
from affidavit.run.measure.child import STDERR, run
from affidavit.run.measure.device import device
from affidavit.run.measure.error import MeasureError, StoppedError, unmeasured
from affidavit.run.measure.number import Number, number_of
from affidavit.run.measure.reading import OUTPUT_BYTES, Printed, Reading, Written, mark, read_value
from affidavit.run.reach import reach

REPEATS_MOST = 10_000
_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class Order:
    """What is to be measured, and how often; the first ``warm_up`` runs count for nothing."""

    name: str
    unit: str
    argv: tuple[str, ...]
    reading: Reading
    repeats: int = 1
    warm_up: int = 0
    covers: tuple[str, ...] = ()
    seat: str = ""
    note: str = ""


def measure(order: Order, *, project: Path, environment: Mapping[str, str] | None = None) -> Measurement:
    """Return the measurement that a command gives; nothing is written by us.

    Raises:
        CommandError: there is no such program.
        CoveredError: it cannot cover what it is said to.
        MeasureError: the command failed, gave no number, or the code that it covers changed meanwhile.
    """
    said = dict(os.environ if environment is None else environment)
    command = read_command(order.argv, cwd=Path.cwd(), environment=said)
    code = _code(order.covers, project)
    interpreter, files = _reached(command, said)
    stands = identity.standing([*files, *_files(code, project)], project, interpreter)
    before = identity.known_runs(project)
    number = _repeated(order, command, said)
    if _code(order.covers, project) != code:
        raise unmeasured(
            subject=f"measurement {order.name}",
            expected="code that stays as it is while it is measured",
            saw="it was edited meanwhile: " + ", ".join(one.target for one in covered.moved(code, project)),
            action="Measure it again.",
        )
    return Measurement(
        name=order.name,
        value=number.value,
        unit=order.unit,
        spread=number.spread,
        spread_is=number.spread_is,
        n=number.n,
        date=now(),  # at its end: what was taken back while it went on has been measured again
        command=identity.told_command(order.argv, project),
        commit=stands.commit,
        tree=stands.tree,
        device=device(environment=said),
        packages=identity.packages(interpreter),
        code=code,
        run=identity.run_since(before, project, order.argv) or identity.run_around(said),
        seat=redact(order.seat),
        note=redact(order.note),
    )


def _code(covers: Sequence[str], project: Path) -> dict[str, str]:
    found = (covered.cover(target, project) for target in covers)
    return {one.target: one.digest for one in found}


def _files(code: Mapping[str, str], project: Path) -> list[Path]:
    return [project / target.partition(":")[0] for target in code]


def _reached(command: Command, environment: Mapping[str, str]) -> tuple[Interpreter, tuple[Path, ...]]:
    """Return the environment that the command most likely runs in, and the first-party files that it reaches."""
    try:
        found = reach(command, environment)
    except ObserveError:
        return identity.this_interpreter(), ()
    return found.interpreter, (*found.files, *command.configs)


def _repeated(order: Order, command: Command, environment: Mapping[str, str]) -> Number:
    values: list[float] = []
    for number in range(order.warm_up + order.repeats):
        try:
            values.append(_once(order, command, environment))
        except MeasureError as error:
            raise error.after(_earlier(order, values)) from error
        except KeyboardInterrupt as error:
            raise StoppedError(
                subject=f"measurement {order.name}",
                expected=f"{order.warm_up + order.repeats} runs of the command",
                saw=f"an interruption in run {number + 1}",
                action="Measure it again.",
                earlier=_earlier(order, values),
            ) from error
    return number_of(values[order.warm_up :])


def _earlier(order: Order, values: Sequence[float]) -> str:
    """Say what the runs before gave: hours may have gone into them."""
    given = values[order.warm_up :]
    more = f" and {len(given) - _SHOWN} more" if len(given) > _SHOWN else ""
    shown = ", ".join(f"{value:.6g}" for value in given[:_SHOWN])
    return f"the runs before it gave {shown}{more} {order.unit}" if given else ""


def _once(order: Order, command: Command, environment: Mapping[str, str]) -> float:
    """Run the command once and return its number; what is read of its output is passed on when it has ended.

    Only what is read is held back: a bar of progress moves, and a warning on standard error is no part of JSON.
    """
    before, reading = mark(order.reading), order.reading
    reads = isinstance(reading, Printed) or (isinstance(reading, Written) and reading.file is None)
    with tempfile.TemporaryFile() as output:
        ended = run(command, environment, output=output if reads else None, with_errors=isinstance(reading, Printed))
        output.seek(0)
        printed = output.read(OUTPUT_BYTES + 1)
    with open(STDERR, "wb", closefd=False) as stderr:
        stderr.write(printed)
    if ended.code != 0:
        raise unmeasured(
            subject=f"command {redact(command.argv[0])!r}",
            expected="exit code 0",
            saw=f"exit code {ended.code}" if ended.code > 0 else f"signal {-ended.code}",
            action="Mend the command and measure it again.",
        )
    return read_value(reading, seconds=ended.seconds, printed=printed, before=before)
