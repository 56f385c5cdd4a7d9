"""What the demonstration draws, 80 columns wide: each fault beside what two records say of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from affidavit.check.finding import Verdict
from affidavit.demo.planted import Fault
from affidavit.demo.trial import LOG, Outcome
from affidavit.report.terminal import WIDTH, Line, Span, Tone, line

_INDENT = len("    an ordinary record  ")


def title(number: int, fault: Fault) -> Iterator[Line]:
    yield line()
    name = f"{number:>2}  {fault.subject}"
    yield line(Span(name, Tone.STRONG), Span(f"{fault.script:>{WIDTH - len(name)}}", Tone.FAINT))
    yield margin("the script says", fault.claim)


def beside(fault: Fault, outcome: Outcome, log: Path) -> Iterator[Line]:
    """Yield what an ordinary record says, what Affidavit says, and what is true."""
    for number, said in enumerate(outcome.files, 1):
        ended = ", exit code 0" if number == len(outcome.files) else ""
        yield margin("an ordinary record" if number == 1 else "", f"{said}{ended}")
    named = [found for found in outcome.findings if found["check"] == fault.check]
    for found in named:
        yield margin("Affidavit", _verdict(found), tone=Tone.STRONG)
        yield margin("", f"expected {found['expected']}, saw {found['saw']}.")
    if not named:
        said = outcome.problem or f"said nothing under {fault.check}"
        yield margin("Affidavit", Span(f"NOT FOUND: {said}; see {log}", Tone.BAD), tone=Tone.STRONG)
    others = [f"{found['verdict']} {found['check']}" for found in outcome.findings if found["check"] != fault.check]
    if others:
        yield margin("", Span(f"also {', '.join(others)}", Tone.FAINT))
    yield margin("the truth", fault.truth)


def _verdict(found: dict[str, str]) -> Span:
    tone = Tone.BAD if found["verdict"] == Verdict.FAIL.value else Tone.DOUBT
    return Span(f"{found['verdict']} {found['check']}", tone)


def margin(head: str, *body: Span | str, tone: Tone = Tone.FAINT) -> Line:
    return line(*body, head=Span(f"    {head}" if head else "", tone), indent=_INDENT)


def summary(count: int, missed: list[Fault], place: Path, seconds: float) -> Iterator[Line]:
    yield line()
    tone = Tone.BAD if missed else Tone.GOOD
    found = Span(f"{count - len(missed)} of {count} planted faults found", tone)
    yield line(found, f"; the demo took {seconds:.0f} seconds.")
    for fault in missed:
        log = place / "faults" / fault.name / LOG
        yield line(Span(f"{fault.script}: not found by {fault.check}", Tone.BAD), f"; its log is {log}")


def what_next(reports: list[Path], project: Path) -> Iterator[Line]:
    """Yield what there is to read, and what to type: paths stand alone on their lines, to be copied."""
    yield line()
    yield line("Read the affidavits, a page each, in a browser:")
    yield from (line(f"  {report}") for report in reports)
    yield line("Or here:")
    commands = (f"cd {shlex.quote(str(project))}", "affidavit show last", "affidavit tokens", "affidavit explain 4.3")
    yield from map(typed, commands)


def typed(typed: str) -> Line:
    return line(Span(f"  {typed}", Tone.ACTION))
