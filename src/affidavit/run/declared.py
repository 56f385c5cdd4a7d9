"""Canaries that a project declares for caches of its own: rebuilt before the command starts, in the Python that trains.

Blind to: commands of which no Python can be told, whose place our own takes; entries that are not there yet.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import affidavit
from affidavit.attach.launch import VARIABLE
from affidavit.fact.observation import Known
from affidavit.fact.term import Method
from affidavit.fact.values import Cell, Table
from affidavit.record.declared import Declared
from affidavit.record.record import Fact
from affidavit.run.command import Command
from affidavit.settings import Settings

DECLARED = "cache.declared"
COLUMNS = (
    *("cache", "function", "entry", "served", "examined", "different", "bound", "outcome", "why", "fields", "first"),
    *("edited", "pattern", "manifest"),
)
IMPORT_SECONDS = 60.0
"""How long the project's own module may take to be imported, beside what its rows may take."""
MOST_ENTRIES = 4
"""So many entries of one cache are looked at, the newest ones."""
_LOAD = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("affidavit", sys.argv[1] + "/__init__.py", submodule_search_locations=[sys.argv[1]])
sys.modules["affidavit"] = module_from_spec(spec)
spec.loader.exec_module(sys.modules["affidavit"])
from affidavit.cache.canary.rebuild import main
main()
"""


def declared_fact(settings: Settings, command: Command, environment: Mapping[str, str]) -> Fact:
    """Return what came of every cache that affidavit.toml names; an entry that is not there yet is no line."""
    asked = [(one, entry) for one in settings.declared for entry in _entries(settings.root, one.entry)]
    rows: list[tuple[Cell, ...]] = []
    begun = time.monotonic()
    if asked and not settings.canary_seconds:
        rows = [_row(one, entry, settings.root, {"outcome": "switched off"}) for one, entry in asked]
    elif asked:
        said = _answers(settings, command, environment, asked)
        rows = [_row(one, entry, settings.root, answer) for (one, entry), answer in zip(asked, said, strict=True)]
    none = "no entry of a declared cache is there" if settings.declared else "affidavit.toml declares no cache"
    source = f"rebuilt in a child, {time.monotonic() - begun:.1f} s" if rows else none
    return Fact(name=DECLARED, state=Known(Table(COLUMNS, tuple(rows)), Method.EXECUTED, source))


def _entries(root: Path, pattern: str) -> Iterator[Path]:
    """Yield the entries that a pattern names, the newest first; unfinished and hidden ones are none."""
    found = [path for path in root.glob(pattern) if not path.name.startswith(".")]
    found.sort(key=lambda path: (-path.stat().st_mtime, path.name))
    yield from found[:MOST_ENTRIES]


def _answers(
    settings: Settings, command: Command, environment: Mapping[str, str], asked: Sequence[tuple[Declared, Path]]
) -> list[dict[str, object]]:
    """Return what the child says of each entry, or why it said nothing."""
    seconds = settings.canary_seconds / len(asked)
    places = [command.script.parent if command.script else command.cwd, command.cwd, settings.root]
    order = {
        "path": list(dict.fromkeys(map(str, places))),
        "caches": [
            {
                "name": one.name,
                "raw": str(settings.root / one.raw),
                "entry": str(entry),
                "build": one.build,
                "seconds": seconds,
                "offset": time.time_ns() % 1_000_003 / 1_000_003,
            }
            for one, entry in asked
        ],
    }
    kept = {name: value for name, value in environment.items() if name != VARIABLE}
    python = str(command.interpreter or sys.executable)
    why = "it ended without a word"
    out = ""
    try:
        ended = subprocess.run(
            [python, "-c", _LOAD, str(Path(affidavit.__file__).parent)],
            input=json.dumps(order),
            cwd=command.cwd,
            env={**kept, "TOKENIZERS_PARALLELISM": "false"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=IMPORT_SECONDS + settings.canary_seconds,
            check=False,
            start_new_session=True,
        )
        out = ended.stdout
    except subprocess.TimeoutExpired as late:
        why = f"more than {late.timeout:g} s"
        out = os.fsdecode(late.stdout or b"")
    except OSError as error:
        why = f"{Path(python).name}: {error.strerror}"
    answers: list[dict[str, object]] = []
    for line in out.splitlines():
        with suppress(ValueError):
            answers.append(json.loads(line))
    gone: dict[str, object] = {"outcome": "died", "why": why}
    return [*answers, *[gone] * len(asked)][: len(asked)]


def _row(one: Declared, entry: Path, root: Path, answer: Mapping[str, object]) -> tuple[Cell, ...]:
    said: dict[str, Cell] = {
        "cache": one.name,
        "function": one.build.replace(":", "."),
        "entry": str(entry.relative_to(root)) if entry.is_relative_to(root) else str(entry),
        "served": 0,
        "examined": 0,
        "different": 0,
        "bound": 1.0,
        "outcome": "died",
        "why": "",
        "fields": "",
        "first": "",
        "edited": "",
        "pattern": one.entry,
        "manifest": one.manifest,
    }
    for name, before in tuple(said.items()):
        new = answer.get(name, before)
        if name not in ("entry", "pattern", "manifest") and isinstance(new, bool | int | float | str):
            is_same = type(new) is type(before)
            said[name] = (new[:160] if isinstance(new, str) else new) if is_same else before
    return tuple(said[name] for name in COLUMNS)
