"""What a project declares in affidavit.toml: caches and what they are built of, gates, questions for a person."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from affidavit.record.keys import Keys

GATE_WHEN = ("preflight", "run")
GATE_SECONDS = 60.0
GATE_SECONDS_MOST = 3600.0
DAYS_MOST = 3650


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A cache of the project's own, and how its rows come about; paths are relative to the project.

    Args:
        raw: the file whose rows are built from, one of one.
        entry: a pattern of the files, or folders of shards, that hold what was built.
        build: ``module:function``, which makes a row of the entry of a row of ``raw``.
        manifest: the JSON file in which the script says what it encoded with; "" where it is found by its place.
    """

    name: str
    raw: str
    entry: str
    build: str
    manifest: str = ""


def is_function(said: str) -> bool:
    """Say whether a text names a function as ``module:function`` does."""
    module, colon, function = said.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), *function.split(".")))


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A command of the project's own that must be able to say no, and what plants the fault that it must mind.

    Args:
        command: a line for a shell; exit code 0 says yes.
        sabotage: a line for a shell that changes a copy of the tree so that the command must say no.
        covers: patterns of the files that a proof hangs on; without any, the files that the two lines name.
        seconds: how long either line may take.
        when: before which verbs it is asked for its answer: ``preflight``, or ``run`` for both.
    """

    name: str
    command: str
    sabotage: str
    covers: tuple[str, ...] = ()
    seconds: float = GATE_SECONDS
    when: str = GATE_WHEN[0]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What only a person can answer, the files that they look at for it, and for how many days the answer holds."""

    question: str
    about: tuple[str, ...]
    days: int


def is_below(pattern: str) -> bool:
    """Say whether a pattern stays inside of the folder that it is asked of."""
    return bool(pattern) and not PurePath(pattern).is_absolute() and ".." not in PurePath(pattern).parts


def is_pattern(pattern: str) -> bool:
    """Say whether every Python's search takes a pattern; ``**.jsonl`` and ``.`` are none to some."""
    parts = PurePath(pattern).parts
    if not parts or any("**" in part and part != "**" for part in parts):
        return False
    try:
        next(Path("/dev/null").glob(pattern), None)
    except (ValueError, IndexError, NotImplementedError):
        return False
    return True


def cache(keys: Keys, entry: dict[str, object], key: str) -> Declared:
    """Return the cache that a table [[cache.declared]] declares."""
    name, raw, pattern, build = (keys.text(entry, f"{key}.{part}") for part in ("name", "raw", "entry", "build"))
    if build and not is_function(build):
        keys.complaints.append(f"{key}.build: expected module:function, saw {build!r:.60}")
    if pattern:
        _refuse_outside(keys, f"{key}.entry", (pattern,))
    manifest = keys.text(entry, f"{key}.manifest") if "manifest" in entry else ""
    return Declared(name=name, raw=raw, entry=pattern, build=build, manifest=manifest)


def gate(keys: Keys, entry: dict[str, object], key: str) -> Gate:
    """Return the gate that a table [[gate]] declares."""
    name, command, sabotage = (keys.text(entry, f"{key}.{part}") for part in ("name", "command", "sabotage"))
    if command and command == sabotage:
        keys.complaints.append(f"{key}.sabotage: expected what plants a fault, saw the command itself")
    covers = keys.texts(entry, f"{key}.covers")
    _refuse_outside(keys, f"{key}.covers", covers)
    return Gate(
        name=name,
        command=command,
        sabotage=sabotage,
        covers=covers,
        seconds=keys.seconds(entry, f"{key}.seconds", default=GATE_SECONDS, most=GATE_SECONDS_MOST),
        when=keys.choice(entry, f"{key}.when", GATE_WHEN),
    )


def question(keys: Keys, entry: dict[str, object], key: str) -> Question:
    """Return the question that a table [[attest]] asks."""
    about = keys.texts(entry, f"{key}.about")
    if not about:
        keys.complaints.append(f"{key}.about: expected the files that a person looks at for an answer, saw none")
    _refuse_outside(keys, f"{key}.about", about)
    days = keys.whole(entry, f"{key}.days", default=0, most=DAYS_MOST)
    return Question(question=keys.text(entry, f"{key}.question"), about=about, days=days)


def _refuse_outside(keys: Keys, key: str, patterns: tuple[str, ...]) -> None:
    outside = [pattern for pattern in patterns if not is_below(pattern)]
    keys.complaints += [f"{key}: expected a pattern below the project, saw {pattern!r:.60}" for pattern in outside]
    bent = [pattern for pattern in patterns if is_below(pattern) and not is_pattern(pattern)]
    keys.complaints += [f"{key}: expected a pattern such as data/**/*.jsonl, saw {pattern!r:.60}" for pattern in bent]
