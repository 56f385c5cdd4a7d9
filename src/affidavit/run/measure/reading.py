"""Where a command's number is: in the time it took, in a line that it printed, or in JSON that it wrote.

A file that was there before the command may be an earlier run's, so it counts only where the command wrote it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from affidavit.run.measure.error import MeasureError, unmeasured
from affidavit.run.measure.number import SECONDS_IN, plain_number

OUTPUT_BYTES = 1 << 24
_NUMBER = re.compile(r"[-+]?(?:\d[\d,_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, kw_only=True)
class Wall:
    """The wall time of the command, in ``unit``."""

    unit: str


@dataclass(frozen=True, kw_only=True)
class Printed:
    """The number that the first group of a pattern holds, or the whole match, in what the command printed."""

    pattern: re.Pattern[str]


@dataclass(frozen=True, kw_only=True)
class Written:
    """The number under a key (``found.seconds``, ``results.0.median``) of JSON: of a file, or of what was printed."""

    key: str
    file: Path | None = None


Reading = Wall | Printed | Written


def mark(reading: Reading) -> tuple[int, ...]:
    """Return what tells a file that the command will write from the one that lies there now."""
    try:
        found = reading.file.stat() if isinstance(reading, Written) and reading.file is not None else None
    except OSError:
        found = None
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns) if found else ()


def read_value(reading: Reading, *, seconds: float, printed: bytes, before: tuple[int, ...] = ()) -> float:
    """Return the number of one run of the command.

    Args:
        before: the :func:`mark` from before the command was started.

    Raises:
        MeasureError: there is no such number, or there are two.
    """
    match reading:
        case Wall(unit=unit):
            return seconds / SECONDS_IN[unit]
        case Printed(pattern=pattern):
            return _printed(pattern, _text(printed))
        case Written(key=key, file=None):
            return _under(key, _text(printed), "what the command printed")
        case Written(key=key, file=Path() as file):
            return _under(key, _text(_fresh(file, is_old=bool(before) and mark(reading) == before)), str(file))
    raise AssertionError(reading)


def number_in(text: str) -> float | None:
    """Return the number that a text is, thousands apart or not; None where it is none."""
    bare = text.strip()
    return float(bare.replace(",", "").replace("_", "")) if _NUMBER.fullmatch(bare) else None


def _printed(pattern: re.Pattern[str], text: str) -> float:
    said = {found[1] if pattern.groups else found[0] for found in pattern.finditer(text)}
    numbers = {number for one in said if one is not None and (number := number_in(one)) is not None}
    if len(numbers) == 1:
        return numbers.pop()
    shown = ", ".join(sorted(f"{one!r:.40}" for one in said)[:4]) or "nothing that matches"
    raise unmeasured(
        subject=f"pattern {pattern.pattern!r:.80}",
        expected="one number in what the command printed",
        saw=shown,
        action="Put the number in a group of its own: --read 'took ([\\d.]+) s'.",
    )


def _fresh(file: Path, *, is_old: bool) -> bytes:
    saw = "one that was there before it"
    try:
        if not is_old:
            with file.open("rb") as stream:
                return stream.read(OUTPUT_BYTES + 1)
    except OSError as error:
        saw = error.strerror or "an error"
    raise unmeasured(
        subject=f"file {file}", expected="one that the command writes", saw=saw, action="Name the file that it writes."
    )


def _text(raw: bytes) -> str:
    if len(raw) > OUTPUT_BYTES:
        saw, expected = f"more than {OUTPUT_BYTES:,} bytes", "output of a size that can be read"
        raise unmeasured(subject="output", expected=expected, saw=saw, action="Let the command print less.")
    return raw.decode("utf-8", "replace")


def _under(key: str, text: str, where: str) -> float:
    try:
        value = _found(json.loads(text), key.split("."))
    except (ValueError, RecursionError, LookupError) as error:
        raise _keyless(key, where, f"{type(error).__name__}: {error}") from error
    number = plain_number(value)
    if number is None:
        raise _keyless(key, where, f"{value!s:.80}")
    return number


def _found(document: object, parts: list[str]) -> object:
    for part in parts:
        if isinstance(document, dict):
            document = document[part]
        elif isinstance(document, list) and part.isdecimal():
            document = document[int(part)]
        else:
            raise LookupError(part)
    return document


def _keyless(key: str, where: str, saw: str) -> MeasureError:
    return unmeasured(
        subject=f'key "{key:.80}" of {where}',
        expected="a number in a JSON document",
        saw=saw,
        action="Name a key such as found.seconds.",
    )
