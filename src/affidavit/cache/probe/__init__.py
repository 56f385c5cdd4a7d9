"""The probe of a key: every input is moved, one at a time, and where the output moves the key has to move, too.

A key cannot be seen to be complete by reading it: one that leaves out a mask in a global, a file or a variable looks
like any other.

Source: anchors-mechanisms C1: no tool was found that compares the movement of the output with that of the key.
Blind to: the code itself, defaults of other functions and captured variables; folders; two inputs that matter only
together; a file that native code opens by itself; a branch that no row takes and no value reaches.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.cache.compare import plain, spread
from affidavit.cache.key import project_of
from affidavit.cache.key.reach import reach_of
from affidavit.cache.key.trace import trace
from affidavit.cache.probe.bench import Bench
from affidavit.cache.probe.inputs import Finder, Input
from affidavit.cache.probe.keying import OwnKey, TheirKey, asked
from affidavit.cache.probe.movement import MEMORY, NATIVE, Movement, Mover, ProbeRefusedError, refused, unsteady
from affidavit.cache.probe.nearby import Held
from affidavit.cache.probe.probed import COVERED, FAULT, IRRELEVANT, OVER_KEYED, UNPROVEN, Found, Probe, sources_of

__all__ = ["ProbeRefusedError", "probe"]

ROWS = 64
"""Of the rows given so many are used for every input; the others are searched for a row on which it matters."""
SECONDS = 120.0
OURS = "ours"
"""The name of the key that :func:`affidavit.cache.key.preimage_of` makes."""


def probe(
    function: Callable[..., Any],
    *,
    rows: Iterable[Any],
    config: Any = None,
    key: Callable[..., Any] | None = None,
    tokenizer: Any = None,
    artifacts: Iterable[str | Path] = (),
    witness: Mapping[str, Sequence[Any]] | None = None,
    irrelevant: Mapping[str, str] | None = None,
    batched: bool = False,
    masks: Sequence[Any] = (),
    project: str | Path | None = None,
    seconds: float = SECONDS,
) -> Probe:
    """Return what each input of ``function`` moves: its output, its key, both or neither.

    The function is called in children that can change nothing. Its module's globals and the environment are exchanged
    in this process while our own key is asked, and put back.

    Args:
        function: makes one row of one row; ``function(row)``, with a configuration or a tokenizer if it takes one.
        rows: the more kinds of rows there are, the more can be proved.
        config: of which every field is moved.
        key: the function that makes the key, of a configuration, its fields or nothing; ours where there is none.
        artifacts: files that our own key counts by content.
        witness: values that are tried first, by the name of the input.
        irrelevant: name of an input → why it cannot move the output; that is probed, too.
        batched: whether the function takes columns of rows.
        masks: policies that are put on the labels of what it returns, as by ``encode``.
        seconds: after which what was not reached is not proven.

    Raises:
        KeyRefusedError: our key cannot be made, so nothing would be cached.
        ProbeRefusedError: no row comes out, or two of the same do not come out the same, or the key does not.
    """
    begun = time.monotonic()
    everything = list(rows)
    if not everything:
        raise refused("rows to call the function with", "none", "Give it some.")
    numbers = sorted(spread(len(everything), min(ROWS, len(everything))))
    sample = [everything[at] for at in numbers]
    bench = Bench(function, config=config, tokenizer=tokenizer, batched=batched, masks=masks)
    place = Path(project) if project is not None else project_of(function)
    deadline, reasons = begun + seconds, dict(irrelevant or {})
    reach = reach_of(bench.call, place)
    mover = Mover(bench, sample, numbers, everything, reach.memories, deadline)
    mover.steady()
    seen = trace(bench.call, sample, memories=reach.memories, seconds=mover.left)
    for subject, saw in seen.problems.items():
        if subject != "environment":
            raise unsteady(saw)
    with tempfile.TemporaryDirectory(prefix="affidavit-probe-") as folder:
        finder = Finder(bench, reach, seen, Held.of(sample), place, Path(folder), witness or {})
        inputs = finder.find()
        _met(inputs, (*(witness or ()), *(reasons if key is not None else ())))
        movements = mover.movements(inputs)
        inputs = tuple(one for one in inputs if MEMORY not in [each.error for each in movements[str(one)]])
        keyed: OwnKey | TheirKey
        if key is not None:
            keyed = TheirKey(key, bench, deadline)
        else:
            reads = bool(seen.files or seen.variables or seen.seeds_itself)
            keyed = OwnKey(bench, sample if reads else (), place, deadline, tuple(artifacts), reasons)
        keys = keyed.moves(inputs, asked(inputs, movements))
        doubtful = [one for one in inputs if _is_doubtful(movements[str(one)], keys[str(one)])]
        if doubtful:
            mover.look_again(doubtful, movements)
            keys |= keyed.moves(doubtful, asked(doubtful, movements))
    judge = _Judge(everything, len(sample), reasons)
    return Probe(
        function=_called(function),
        key=_called(key) if key is not None else OURS,
        found=tuple(judge.found(one, movements[str(one)], keys[str(one)]) for one in inputs),
        rows=len(everything),
        sources=sources_of(place, bench.call, *([key] if key is not None else [])),
        seconds=time.monotonic() - begun,
    )


def _is_doubtful(movements: Sequence[Movement], keys: Mapping[int, bool]) -> bool:
    """Say whether an input moved nothing, and its key would not tell if it had."""
    return bool(movements) and not any(each.moves for each in movements) and not (keys and all(keys.values()))


def _met(inputs: Sequence[Input], wanted: Sequence[str]) -> None:
    names = {said for one in inputs for said in _said(one)}
    unmet = [name for name in wanted if name not in names]
    if unmet:
        known = ", ".join(sorted(one.name for one in inputs)) or "none"
        saw = f"no input called {', '.join(unmet)}"
        raise refused(f"one of its inputs ({known[:300]})", saw, "Say a name that is there.")


def _said(one: Input) -> Iterator[str]:
    """Yield what a person may call an input: its name, with its kind or without, or that of what it is a part of."""
    yield from (one.name, str(one))
    name = one.name
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


@dataclass(frozen=True)
class _Judge:
    """Gives each input its verdict, and says what keeps it from a better one."""

    rows: Sequence[Any]
    sampled: int
    reasons: Mapping[str, str]

    def found(self, one: Input, movements: Sequence[Movement], keys: Mapping[int, bool]) -> Found:
        moving = [place for place, each in enumerate(movements) if each.moves and place in keys]
        missed = [place for place in moving if not keys[place]]
        reason = next((self.reasons[said] for said in _said(one) if said in self.reasons), "")
        is_native = any(each.error == NATIVE for each in movements)
        errors = [each.error for each in movements if each.error and not is_native]
        if missed or moving:
            verdict = FAULT if missed else COVERED
        elif reason and keys:
            verdict = IRRELEVANT
        elif keys and all(keys.values()):
            verdict = COVERED if errors else OVER_KEYED
        else:
            verdict = UNPROVEN
        first = (missed or moving or [-1])[0]
        movement = movements[first] if first >= 0 else Movement()
        why = reason if verdict in (IRRELEVANT, FAULT) else ""
        if is_native and verdict in (OVER_KEYED, UNPROVEN):
            why = NATIVE
        elif verdict == OVER_KEYED:
            why = f"on none of {self.sampled:,} rows did the output move"
        elif verdict == UNPROVEN:
            why = self._lacks(one, errors, reached=bool(keys))
        return Found(
            verdict=verdict,
            kind=one.kind,
            name=one.name,
            change=one.settings[first].says if first >= 0 else "",
            row=movement.row,
            fields=movement.fields,
            tried=len(movements),
            why=why,
        )

    def _lacks(self, one: Input, errors: Sequence[str], *, reached: bool) -> str:
        """Say which witness is lacking."""
        if not one.settings:
            return f"no other value can be made of a {type(one.now).__name__}; give one as witness"
        if not reached:
            return "the time was up before it was tried"
        if errors:
            return f"every value that could matter is refused ({errors[0]}); give one as witness"
        absent = _absent(one.now, self.rows)
        if absent:
            return f"no row of {len(self.rows):,} holds {absent}; give one that does"
        counted = f"{len(self.rows):,} rows"
        return f"on none of {counted} did the output move; give a row on which it matters, or a value as witness"


def _absent(value: Any, rows: Sequence[Any]) -> str:
    """Return which texts of a collection no row holds: what they do cannot be seen on these rows."""
    if not isinstance(value, (list, tuple, set, frozenset, dict)):
        return ""
    wanted = [each for each in value if isinstance(each, str) and each.strip()]
    if not wanted:
        return ""
    text = json.dumps([plain(row) for row in rows], default=repr, ensure_ascii=False).lower()
    missing = sorted(each for each in wanted if each.lower() not in text)
    return " or ".join(map(repr, missing[:3]))


def _called(function: Any) -> str:
    while hasattr(function, "func") or hasattr(function, "__func__"):
        function = getattr(function, "func", None) or function.__func__
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', None) or type(function).__module__}:{name}"
