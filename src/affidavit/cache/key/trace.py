"""What a function reached for on a few real rows: files, environment variables, chance, the network.

The rows are run twice in a child that can change nothing. What was seen joins the key, and what cannot be part of one
refuses it: rows that need the network, write, or come out otherwise the second time.

Source: hf-stack-spike §6; anchors-mechanisms C1: an audit hook sees ``open``, not Arrow, tokenizers or safetensors.
Blind to: a branch that these rows do not take; a file that native code reads and lets go again; variables that
C reads; a question whether a file is there (it raises no event); what was read before, when the process was younger.
"""

from __future__ import annotations

import copy
import os
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from affidavit.cache.isolated import isolated
from affidavit.cache.key.value import Former, UnstableError
from affidavit.cache.preimage import canonical, digest_of

SECONDS = 30.0
_IMPORTING = ("<frozen importlib", "linecache.py", "<frozen zipimport", "tokenize.py")


@dataclass(frozen=True)
class Trace:
    """What was seen; ``problems`` by what they are of: ``network``, ``files``, ``random``, ``result`` or ``rows``."""

    files: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    seeds_itself: bool = False
    problems: dict[str, str] = field(default_factory=dict)


def trace(
    function: Callable[[Any], Any], rows: Sequence[Any], *, memories: Iterable[Any] = (), seconds: float = SECONDS
) -> Trace:
    """Return what ``function`` reaches for when it is called once with each row.

    Args:
        function: takes one row.
        rows: few, and such that what matters happens in them.
        memories: caches of :mod:`functools` that are emptied first, in the child; what they hold hides a read.
        seconds: after which the child is ended, and the trace refused.
    """
    result = isolated(lambda: _watched(function, rows, memories), seconds=seconds)
    seen = result.value or {"files": [], "variables": [], "chance": "", "problems": {}}
    problems = dict(seen["problems"])
    if result.ended == "refused":
        kind, _, what = result.why.partition(": ")
        subject = {"network": "network", "write": "files"}.get(kind, kind)
        problems[subject] = f"on a probe row it reached for {what or kind} ({kind})"
    elif result.ended != "done":
        problems["rows"] = f"on the probe rows it {result.ended}: {result.why}".replace("it done", "it ended")
    if seen["chance"] == "draws":
        problems["random"] = "on a probe row it drew from a random state of the whole process"
    return Trace(
        files=tuple(seen["files"]),
        variables=tuple(seen["variables"]),
        seeds_itself=seen["chance"] == "seeds itself",
        problems=problems,
    )


def _watched(function: Callable[[Any], Any], rows: Sequence[Any], memories: Iterable[Any]) -> dict[str, Any]:
    """Run the rows twice, from two different random states, and say what was seen. Only ever in a child."""
    files: dict[str, None] = {}
    variables: dict[str, None] = {}
    problems: dict[str, str] = {}
    watching = [True]
    _watch_files(files, watching)
    _watch_environment(variables, problems, watching)
    loaded, mapped = set(sys.modules), _mapped()
    passes: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    outcomes: list[list[str]] = []
    for seed in (1, 2):
        for memory in memories:
            memory.cache_clear()
        _seed(seed)
        begun = _chance()
        outcomes.append([])
        for row in rows:
            outcomes[-1].append(_outcome(function(copy.deepcopy(row))))
        files.update(dict.fromkeys(_mapped() - mapped))
        passes.append((begun, _chance()[: len(begun)]))
    watching[0] = False
    chance = _drawn(*passes)
    if chance != "draws" and outcomes[0] != outcomes[1]:
        at = next(at for at, (one, two) in enumerate(zip(*outcomes)) if one != two)
        problems["result"] = f"probe row {at} came out otherwise the second time"
    files.update(dict.fromkeys(_imported(set(sys.modules) - loaded)))
    return {"files": sorted(files), "variables": sorted(variables), "chance": chance, "problems": problems}


def _watch_files(files: dict[str, None], watching: list[bool]) -> None:
    def hook(event: str, args: tuple[Any, ...]) -> None:
        if not watching[0] or event not in ("open", "os.listdir", "os.scandir"):
            return
        path = args[0]
        if isinstance(path, int) or path is None or sys._getframe(1).f_code.co_filename.endswith(_IMPORTING):
            return
        if sys._getframe(1).f_code.co_filename.startswith(_IMPORTING):
            return
        with suppress(TypeError, ValueError):
            files[os.path.abspath(os.fsdecode(path))] = None  # noqa: PTH100  resolving would ask the file system

    sys.addaudithook(hook)


def _watch_environment(variables: dict[str, None], problems: dict[str, str], watching: list[bool]) -> None:
    kind: Any = type(os.environ)
    get, has, every = kind.__getitem__, kind.__contains__ if "__contains__" in vars(kind) else None, kind.__iter__

    def __getitem__(self: Any, name: Any) -> Any:  # noqa: N807
        if watching[0]:
            variables[os.fsdecode(name)] = None
        return get(self, name)

    def __contains__(self: Any, name: Any) -> bool:  # noqa: N807
        if watching[0]:
            variables[os.fsdecode(name)] = None
        return has(self, name) if has else name in self._data or self.encodekey(name) in self._data

    def __iter__(self: Any) -> Any:  # noqa: N807
        if watching[0]:
            problems["environment"] = "on a probe row it read every variable there is"
        return every(self)

    kind.__getitem__, kind.__contains__, kind.__iter__ = __getitem__, __contains__, __iter__


def _mapped() -> set[str]:
    """Return the files that are mapped or held open now, which native code opens without a word."""
    found: set[str] = set()
    with suppress(OSError), open("/proc/self/maps") as maps:  # noqa: PTH123
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if path and ".so" not in path and not path.endswith(" (deleted)"):
                found.add(f"/{path}")
    with suppress(OSError):
        for number in os.listdir("/proc/self/fd"):  # noqa: PTH208
            with suppress(OSError):
                path = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115
                if path.startswith("/") and os.path.isfile(path):  # noqa: PTH113
                    found.add(path)
    return {path for path in found if not path.startswith(("/proc/", "/sys/", "/dev/"))}


def _imported(names: Iterable[str]) -> list[str]:
    files = (getattr(sys.modules.get(name), "__file__", None) for name in names)
    return [os.path.abspath(file) for file in files if file]  # noqa: PTH100


def _seed(seed: int) -> None:
    random.seed(seed)
    numpy: Any = sys.modules.get("numpy.random")
    if numpy is not None:
        numpy.seed(seed)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.random.default_generator.manual_seed(seed)


def _chance() -> tuple[str, ...]:
    """Return the digest of each random state that the whole process shares."""
    states = [repr(random.getstate()).encode()]
    numpy: Any = sys.modules.get("numpy.random")
    if numpy is not None:
        states.append(
            b"".join(bytes(memoryview(part)) if hasattr(part, "shape") else b"%d" % part for part in _numbers(numpy))
        )
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        states.append(bytes(torch.random.default_generator.get_state().tolist()))
    return tuple(map(digest_of, states))


def _numbers(numpy: Any) -> tuple[Any, ...]:
    _, keys, place, has_gauss, _ = numpy.get_state()
    return keys, place, has_gauss


def _drawn(first: tuple[tuple[str, ...], ...], second: tuple[tuple[str, ...], ...]) -> str:
    """Say whether a state was drawn from; one that ends the same from two beginnings was set by the function itself."""
    chance = "untouched"
    for before, after, other_before, other_after in zip(*first, *second):
        if before != after or other_before != other_after:
            if after != other_after:
                return "draws"
            chance = "seeds itself"
    return chance


def _outcome(made: Any) -> str:
    """Return the digest of a result, or its type where it has no stable form: then only that is compared."""
    former = Former(Path("/nowhere"), lambda code: ["code", getattr(code, "__qualname__", "")], lambda _: None)
    try:
        return digest_of(canonical(former.form(made)))
    except UnstableError:
        return type(made).__name__
