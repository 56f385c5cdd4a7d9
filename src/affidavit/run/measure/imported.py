"""Measurements that another tool took: the JSON of pytest-benchmark and of hyperfine.

What such a file does not say is left empty: the commit and the machine that we stand on are not those that it was
measured on. A run that failed gave no number there either.

Source: files that pytest-benchmark 5.3 (``--benchmark-json``) and hyperfine 1.15 (``--export-json``) wrote.
Blind to: whether the code changed between the measurement and the import.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.attach.redact import redact, redact_arguments
from affidavit.record import covered, file
from affidavit.record.measurement import AS_COMMITTED, CHANGED, NO_REPOSITORY, Measurement
from affidavit.run.measure.error import MeasureError, unmeasured
from affidavit.run.measure.number import number_of, plain_number

SIZE_BYTES = 1 << 26
MOST = 10_000


@dataclass(frozen=True, kw_only=True)
class About:
    """What the importer adds: ``prefix`` stands before each name."""

    prefix: str = ""
    code: Mapping[str, str]
    seat: str = ""
    note: str = ""


def about(project: Path, *, prefix: str = "", covers: tuple[str, ...] = (), seat: str = "", note: str = "") -> About:
    """Return what is added to each measurement; raises as :func:`affidavit.record.covered.cover`."""
    found = (covered.cover(target, project) for target in covers)
    return About(prefix=prefix, code={one.target: one.digest for one in found}, seat=redact(seat), note=redact(note))


def from_benchmark(path: Path, added: About) -> tuple[Measurement, ...]:
    """Return the measurements of a file of pytest-benchmark, in seconds; raises MeasureError.

    Two tests of one name, in two files, are called by their files as well.
    """
    document = _document(path)
    machine = _table(document, "machine_info")
    commit, tree = _stands(_table(document, "commit_info"))
    tests = _tables(document, "benchmarks", path)
    names = Counter(name_of(_text(one, "name")) for one in tests)
    return _apart(
        path,
        [
            _made(
                path,
                added,
                name=redact(_text(one, "name" if names[name_of(_text(one, "name"))] == 1 else "fullname")),
                stats=_table(one, "stats"),
                values=_values(path, _table(one, "stats").get("data")),
                date=_date(_text(document, "datetime"), path),
                command=(),
                commit=commit,
                tree=tree,
                device=_machine(machine),
                packages={"python": said} if (said := _text(machine, "python_version")) else {},
                note=f"pytest-benchmark {_text(document, 'version')}, {_text(one, 'fullname')}",
            )
            for one in tests
        ],
    )


def from_hyperfine(path: Path, added: About) -> tuple[Measurement, ...]:
    """Return the measurements of a file of hyperfine, in seconds; raises MeasureError."""
    document = _document(path)
    made = []
    for one in _tables(document, "results", path):
        codes = [code for code in _list(one, "exit_codes") if code != 0]
        if codes:
            raise _unread(path, f"exit code {codes[0]!r:.20} of {_text(one, 'command'):.80}")
        made.append(
            _made(
                path,
                added,
                name=" ".join(_words(_text(one, "command"))),
                values=_values(path, one.get("times")),
                stats=one,
                date=datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC),
                command=_words(_text(one, "command")),
                note="hyperfine, which says neither machine nor commit; dated by its file",
            )
        )
    return _apart(path, made)


def name_of(text: str) -> str:
    """Return a text as the name of a claim: ``test_rebuild[big]`` is ``rebuild-big``."""
    bare = re.sub(r"^(test|bench(mark)?)_", "", text)
    return re.sub(r"[^a-z0-9]+", "-", bare.lower()).strip("-")[:100].strip("-")


def _apart(path: Path, made: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """Return measurements of which each has a name of its own: the second of two would stand for both."""
    names = Counter(one.name for one in made)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise unmeasured(
            subject=f"file {path}",
            expected="a name of its own for each number",
            saw=f"{names[twice[0]]} that would be called {twice[0]!r}",
            action="Rename the test, or give the command a name: hyperfine --command-name.",
        )
    return tuple(made)


def _made(
    path: Path,
    added: About,
    *,
    name: str,
    values: list[float],
    stats: Mapping[str, Any],
    date: datetime.datetime,
    command: tuple[str, ...],
    note: str,
    commit: str = "",
    tree: str = "",
    device: dict[str, str] | None = None,
    packages: dict[str, str] | None = None,
) -> Measurement:
    value, spread, spread_is, n = _summary(path, values, stats)
    said = [part for part in (added.note, redact(note)) if part]
    return Measurement(
        name=name_of(f"{added.prefix}-{name_of(name)}") if added.prefix else name_of(name),
        value=value,
        unit="s",
        spread=spread,
        spread_is=spread_is,
        n=n,
        date=date,
        command=command,
        commit=commit,
        tree=tree,
        device=device or {},
        packages=packages or {},
        code=dict(added.code),
        seat=added.seat,
        note="; ".join(said),
    )


def _summary(path: Path, values: list[float], stats: Mapping[str, Any]) -> tuple[float, float | None, str, int]:
    """Return median, spread, what it is, and of how many; of the values, or of the summary where they were left out.

    One value has no spread, whatever a summary calls it.
    """
    if values:
        found = number_of(values)
        return found.value, found.spread, found.spread_is, found.n
    median, spread, rounds = (plain_number(stats.get(key)) for key in ("median", "iqr", "rounds"))
    if median is None:
        raise _unread(path, f"the median {stats.get('median')!r:.40}")
    n = int(rounds) if rounds is not None and 1 <= rounds < math.inf else 1
    if n == 1 or spread is None:
        return number_of([median]).value, None, "", n
    return number_of([median]).value, spread, "iqr", n


def _values(path: Path, said: object) -> list[float]:
    found = [plain_number(one) for one in said] if isinstance(said, list) else []
    if None in found:
        raise _unread(path, "a value that is no number")
    return [one for one in found if one is not None]


def _stands(said: Mapping[str, Any]) -> tuple[str, str]:
    """Return the commit and how the tree stood to it; outside a repository the file says "unversioned", and clean."""
    commit, is_dirty = _text(said, "id"), said.get("dirty")
    if re.fullmatch(r"[0-9a-f]{7,64}", commit) is None:
        return "", NO_REPOSITORY if commit == "unversioned" else ""
    return commit, "" if not isinstance(is_dirty, bool) else CHANGED if is_dirty else AS_COMMITTED


def _machine(said: Mapping[str, Any]) -> dict[str, str]:
    processor = _table(said, "cpu")
    found = {
        "processor": _text(processor, "brand_raw") or _text(said, "processor"),
        "cores": str(count) if isinstance(count := processor.get("count"), int) else "",
        "system": " ".join(part for part in (_text(said, key) for key in ("system", "release", "machine")) if part),
    }
    return {name: text for name, text in found.items() if text}


def _words(command: str) -> tuple[str, ...]:
    try:
        return redact_arguments(shlex.split(command))
    except ValueError:  # a quote that is not closed
        return (redact(command),)


def _date(text: str, path: Path) -> datetime.datetime:
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise _unread(path, f"the date {text!r:.40}") from error
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)  # it writes UTC, and older versions no zone


def _document(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read(path.resolve(), limit=SIZE_BYTES))
    except (ValueError, RecursionError, file.FileShapeError, OSError) as error:
        raise _unread(path, f"{error}") from error
    if not isinstance(found, dict):
        raise _unread(path, type(found).__name__)
    return found


def _tables(document: Mapping[str, Any], key: str, path: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = [one for one in _list(document, key) if isinstance(one, dict)]
    if not found or len(found) > MOST:
        raise _unread(path, f"{len(found)} entries under {key!r}")
    return found


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _list(document: Mapping[str, Any], key: str) -> list[Any]:
    found = document.get(key)
    return found if isinstance(found, list) else []


def _text(document: Mapping[str, Any], key: str) -> str:
    found = document.get(key)
    return found if isinstance(found, str) else ""


def _unread(path: Path, saw: str) -> MeasureError:
    return unmeasured(
        subject=f"file {path}",
        expected="the JSON of pytest-benchmark or hyperfine, of runs that ended well",
        saw=saw.partition("\n")[0],
        action="Export it again: --benchmark-json FILE, or --export-json FILE.",
    )
