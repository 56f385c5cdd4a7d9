"""Where a command's number is: in the time it took, in a line that it printed, or in JSON that it wrote.

A file that was there before the command may be an earlier run's, so it counts only where the command wrote it.

Source: standard output, and for a pattern standard error too; the file that is named.
Blind to: the unit that the command prints; a comma that stands for a point before three digits.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from affidavit.record import file
from affidavit.run.measure.error import MeasureError, unmeasured
from affidavit.run.measure.number import SECONDS_IN, plain_number

OUTPUT_BYTES = 1 << 28
"""What is read of a command's output: the log of hours, whose number stands at its end."""
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
"""A comma stands before three digits: "0,5" is half of one to who wrote it, and no five."""


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
    """The number under a key (``found.seconds``, ``results.0.median``) of JSON: of a file, or of what was printed.

    What was printed is one document, or ends with one on a line of its own. A key may hold dots.
    """

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
            return _under(key, _text(printed), "what the command printed", is_printed=True)
        case Written(key=key, file=Path() as path):
            raw = _fresh(path, is_old=bool(before) and mark(reading) == before)
            return _under(key, _text(raw), str(path), is_printed=False)
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


def _fresh(path: Path, *, is_old: bool) -> bytes:
    saw = "one that was there before it"
    try:
        if not is_old:
            return file.read(path.resolve(), limit=OUTPUT_BYTES)
    except (OSError, file.FileShapeError) as error:
        saw = (error.strerror if isinstance(error, OSError) else str(error)) or "an error"
    raise unmeasured(
        subject=f"file {path}", expected="one that the command writes", saw=saw, action="Name the file that it writes."
    )


def _text(raw: bytes) -> str:
    if len(raw) > OUTPUT_BYTES:
        saw, expected = f"more than {OUTPUT_BYTES:,} bytes", "output of a size that can be read"
        raise unmeasured(subject="output", expected=expected, saw=saw, action="Let the command print less.")
    return raw.decode("utf-8", "replace")


def _under(key: str, text: str, where: str, *, is_printed: bool) -> float:
    try:
        value = _found(_document(text, is_printed=is_printed), key.split("."))
    except (ValueError, RecursionError, LookupError) as error:
        name = "" if isinstance(error, LookupError) else f"{type(error).__name__}: "
        raise _keyless(key, where, f"{name}{error.args[0]}") from error
    number = plain_number(value)
    if number is None:
        raise _keyless(key, where, f"{value!s:.80}")
    return number


def _document(text: str, *, is_printed: bool) -> object:
    try:
        return json.loads(text)
    except ValueError:
        lines = text.split("\n") if is_printed else []
        last = next((line for line in reversed(lines) if line.strip()), "")
        if not last.lstrip().startswith(("{", "[")):
            raise
    return json.loads(last)


def _found(document: object, parts: list[str]) -> object:
    if not parts:
        return document
    if isinstance(document, list) and parts[0].isdecimal() and int(parts[0]) < len(document):
        return _found(document[int(parts[0])], parts[1:])
    if isinstance(document, dict):
        for taken in range(len(parts), 0, -1):  # a name such as "acc.none" is one key, where there is such a key
            name = ".".join(parts[:taken])
            if name in document:
                return _found(document[name], parts[taken:])
        raise LookupError(f"no {parts[0]!r:.80} among {', '.join(f'{name!r:.40}' for name in list(document)[:8])}")
    raise LookupError(f"no {parts[0]!r:.80} in a {type(document).__name__}")


def _keyless(key: str, where: str, saw: str) -> MeasureError:
    return unmeasured(
        subject=f'key "{key:.80}" of {where}',
        expected="a number in a JSON document",
        saw=saw,
        action="Name a key such as found.seconds.",
    )
