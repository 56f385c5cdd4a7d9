"""Whether a run lives, as a reader sees it: one line with what carries it, a line a rank, one document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affidavit.report.terminal import Line, Span, Tone, line
from affidavit.run.liveness.decoys import Called
from affidavit.run.liveness.evidence import Rank
from affidavit.run.liveness.probe import Answer, Probed
from affidavit.run.liveness.stacks import Stacks
from affidavit.run.liveness.verdict import Judgement, Liveness, Said

_INDENT = 4
_WHYS_SHOWN = 4
_RANKS_SHOWN = 16


def tone_of(liveness: Liveness) -> Tone:
    code = liveness.exit_code
    return Tone.GOOD if code == 0 else Tone.DOUBT if code == liveness.UNKNOWN.exit_code else Tone.BAD


def lines(said: Judgement, stacks: Sequence[Stacks] = (), *, stamp: str = "") -> Iterator[Line]:
    """Yield the verdict in one line, and beneath it what was kept of where the run hangs."""
    head = Span(f"{said.liveness.value}  ", tone_of(said.liveness))
    when = (Span(f"{stamp}  ", Tone.FAINT),) if stamp else ()
    more = f"; and {len(said.why) - _WHYS_SHOWN} more" if len(said.why) > _WHYS_SHOWN else ""
    why = "; ".join(said.why[:_WHYS_SHOWN])
    yield line(*when, head, Span(said.evidence.run, Tone.STRONG), f": {why}{more}")
    for one in stacks:
        yield line(Span(one.words, Tone.FAINT), indent=_INDENT)


def screen(said: Judgement, *, stamp: str) -> Iterator[Line]:
    """Yield what a terminal shows while it follows a run: the verdict, and each rank with how far it is."""
    yield from lines(said, stamp=stamp)
    worst_first = sorted(said.ranks, key=lambda found: found[1].liveness.exit_code == 0)
    for one, its in worst_first[:_RANKS_SHOWN]:
        yield line(
            Span(f"{its.liveness.value:<{_WIDEST}}", tone_of(its.liveness)),
            f" {_about(one)}",
            head=f"rank {one.rank}",
            indent=_MARGIN,
        )
    if len(worst_first) > _RANKS_SHOWN:
        yield line(Span(f"and {len(worst_first) - _RANKS_SHOWN} more ranks", Tone.FAINT))


_WIDEST = max(len(one.value) for one in Liveness)
_MARGIN = len("rank 0000") + 2


def _about(one: Rank) -> str:
    phase = one.phase.name.lower() if one.phase else "?"
    age = f"{one.age_seconds:.0f} s" if one.age_seconds is not None else "?"
    return f"step {one.step}  {phase}  {age} of {one.allowed.seconds:.0f} s  {one.host} {one.pid}  {one.state.value}"


def document(said: Judgement, stacks: Sequence[Stacks] = ()) -> dict[str, object]:
    """Return the same for programs."""
    return {
        "run": said.evidence.run,
        "attempt": said.evidence.attempt,
        "verdict": said.liveness.value,
        "exit_code": said.liveness.exit_code,
        "is_over": said.is_over,
        "why": list(said.why),
        "ranks": [_rank(one, its) for one, its in said.ranks],
        "stacks": [{"rank": one.rank, "pid": one.pid, "path": one.path, "said": one.words} for one in stacks],
    }


def _rank(one: Rank, its: Said) -> Mapping[str, object]:
    return {
        "rank": one.rank,
        "host": one.host,
        "pid": one.pid,
        "verdict": its.liveness.value,
        "state": one.state.value,
        "step": one.step,
        "phase": one.phase.name.lower() if one.phase else "",
        "age_seconds": one.age_seconds,
        "allowed_seconds": one.allowed.seconds,
        "behind": one.behind,
        "why": its.words,
    }


def drilled(called: Sequence[Called]) -> Iterator[Line]:
    """Yield a line for each decoy, by what it was called and after how long, and the count of them all."""
    for one in called:
        mark = Span("✓", Tone.GOOD) if one.is_right else Span("✗", Tone.BAD)
        seen = f"  {one.called.value} after {one.seconds:.1f} s" if one.is_right else ""
        yield line(mark, " ", Span(one.name, Tone.STRONG), seen, Span(f"  {one.how}", Tone.FAINT))
        if not one.is_right:
            missed = f"missed: expected {one.expected.value}, saw {one.called.value}: {one.why}"
            yield line(Span(missed, Tone.BAD), indent=_INDENT)
    right = sum(one.is_right for one in called)
    yield line()
    yield line(f"{right} of {len(called)} decoys called by their right name.")


def drilled_document(called: Sequence[Called]) -> dict[str, object]:
    return {
        "decoys": [
            {
                "name": one.name,
                "how": one.how,
                "expected": one.expected.value,
                "called": one.called.value,
                "seconds": round(one.seconds, 3),
                "is_right": one.is_right,
                "why": one.why,
            }
            for one in called
        ]
    }


def probed(found: Probed) -> Iterator[Line]:
    """Yield what a probe said of a target that cannot exist, in each shell."""
    for one in found.tries:
        mark = Span("✗", Tone.BAD) if one.answer is Answer.ALIVE else Span("✓", Tone.GOOD)
        if one.answer is Answer.UNPROVEN:
            mark = Span("?", Tone.DOUBT)
        yield line(mark, " ", Span(one.shell, Tone.STRONG), f"  says {one.answer.value}: {one.why}")
    yield line()
    yield line(Span(found.words, Tone.BAD if found.exit_code == 1 else Tone.PLAIN))


def probed_document(found: Probed) -> dict[str, object]:
    return {
        "command": found.command,
        "target": found.target,
        "exit_code": found.exit_code,
        "said": found.words,
        "tries": [{"shell": one.shell, "says": one.answer.value, "why": one.why} for one in found.tries],
    }
