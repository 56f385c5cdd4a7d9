"""What a terminal shows of guards: one line where all are proved, else each one that is not, with what it let pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from affidavit.pytest_plugin.evidence import Ending, Evidence, Word
from affidavit.pytest_plugin.hollow import Hollow

SHOWN = 12
"""Missed disarms shown of one guard; -v shows all."""
HOLLOW_SHOWN = 20
WIDE = 50


def show_hollow(terminal: Any, found: Sequence[Hollow]) -> None:
    """Write which tests look and do not see; nothing where none does."""
    if not found:
        return
    terminal.write_sep("=", "hollow tests")
    shown = found if terminal.config.getoption("verbose") > 0 else found[:HOLLOW_SHOWN]
    for one in shown:
        terminal.write_line(f"{one.at}: {one.test.rpartition('::')[2]}: {one.why}")
    if len(found) > len(shown):
        terminal.write_line(f"and {len(found) - len(shown)} more (-v)")


def show(terminal: Any, evidence: Sequence[Evidence], unasked: str, written: str) -> None:
    """Write the summary; nothing where nothing was marked."""
    if not evidence:
        if unasked:
            terminal.write_line(f"guards: {unasked}", yellow=True)
        return
    proved = [one for one in evidence if one.word is Word.PROVED]
    rest = [one for one in evidence if one.word is not Word.PROVED]
    if rest:
        terminal.write_sep("=", "guards")
        for one in sorted(rest, key=lambda one: not one.blocks):
            _one(terminal, one)
    if proved or rest:
        counted = [f"{len(proved)} proved"]
        counted += [f"{n} {word.value}" for word in Word if (n := sum(one.word is word for one in rest))]
        disarms = [disarm for one in evidence for disarm in one.disarms]
        asserted = sum(one.ending is Ending.ASSERTED for one in disarms)
        caught = sum(one.ending.is_caught for one in disarms)
        seconds = sum(one.seconds for one in evidence)
        terminal.write_line(
            f"guards: {', '.join(counted)}; {caught} of {len(disarms)} disarms caught, {asserted} of them by an "
            f"assertion, in {seconds:.2f} s{''.join(f'; {said}' for said in (unasked, written) if said)}",
            **({"red": True} if any(one.blocks for one in rest) else {"yellow": True} if rest else {"green": True}),
        )


def _one(terminal: Any, one: Evidence) -> None:
    terminal.write(f"{one.word.value:<12}", red=one.blocks, yellow=not one.blocks)
    terminal.write_line(f"{one.test} guards {one.target}{f' ({one.says})' if one.says else ''}")
    for line in lines(one, verbose=terminal.config.getoption("verbose") > 0):
        terminal.write_line(f"{'':<12}{line}")


def lines(one: Evidence, *, verbose: bool) -> list[str]:
    """Return what there is to say of one guard that is not proved."""
    if one.word is Word.ERROR:
        return [one.why]
    if one.word is Word.NOT_REACHED:
        return ["The test never steps into the function in this process, so it is green whatever the function does."]
    caught = f"{len(one.caught)} of {len(one.disarms)} disarms caught"
    ways = ", ".join(f"{one.count(way)} {way}" for way in (Ending.ASSERTED, Ending.CRASHED, Ending.HUNG))
    said = [f"{caught} ({ways})."]
    if one.word is Word.INERT:
        said = [f"No assertion failed under any of {len(one.disarms)} disarms ({ways}); calling is not asserting."]
    run = [missed for missed in one.missed if missed.is_run]
    shown = run if verbose else run[:SHOWN]
    at = ""
    for missed in shown:
        if missed.at != at:
            at = missed.at
            said.append(f"{at}: {missed.text}")
        said.append(f"    {missed.operator}: {_short(missed.was)} → {_short(missed.becomes)}")
    if len(run) > len(shown):
        said.append(f"and {len(run) - len(shown)} more (-v)")
    return [*said, *_never_run(one)]


def _never_run(one: Evidence) -> list[str]:
    """Return one line for all that was missed where the test never comes by; what it lacks there is a case."""
    never = [missed for missed in one.missed if not missed.is_run]
    if not never:
        return []
    file = never[0].at.rpartition(":")[0]
    lines = sorted({int(missed.at.rpartition(":")[2]) for missed in never})
    return [f"{file}:{','.join(map(str, lines))}: {len(never)} more, on lines that this test never runs"]


def _short(text: str) -> str:
    return text if len(text) <= WIDE else f"{text[: WIDE - 1]}…"
