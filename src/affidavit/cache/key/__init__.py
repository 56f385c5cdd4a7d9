"""The key of a cache entry: the digest of everything that can move what a function returns.

A key that leaves out one input serves the old result after that input moved, without a word. So nothing is chosen here
that a person would have to keep up: every field of the configuration joins by itself, the code is followed as far as it
is first-party, and what cannot be computed refuses the key instead of leaving a hole in it.

Source: anchors-mechanisms C1, hf-stack-spike §5; "a digest's name records every parameter that changes the output".
"""

from __future__ import annotations

import dataclasses
import os
import platform
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from affidavit.cache.key.closure import Closure
from affidavit.cache.key.files import digest_of_file, digest_of_folder
from affidavit.cache.key.gathered import Gathered
from affidavit.cache.key.naming import place_of
from affidavit.cache.key.trace import SECONDS, Trace, trace
from affidavit.cache.preimage import IRRELEVANT, KeyRefusedError, Part, Preimage, canonical, digest_of, shown
from affidavit.fact.errors import refusal

__all__ = ["KeyRefusedError", "preimage_of"]

MOST_ROWS = 64
"""Traced, each twice; a trace says what was reached for, and more rows of one kind reach for the same."""
_PROJECT = (".git", "pyproject.toml", "affidavit.toml", "setup.py", "setup.cfg")


def preimage_of(
    function: Callable[..., Any],
    *,
    config: Any = None,
    artifacts: Iterable[str | Path] | Mapping[str, str | Path] = (),
    tokenizer: Any = None,
    irrelevant: Mapping[str, str] | None = None,
    rows: Iterable[Any] | None = None,
    project: str | Path | None = None,
    seconds: float = SECONDS,
) -> Preimage:
    """Return everything that the key of ``function``'s results is made of: the same in every process and place.

    Args:
        function: what makes the entry; a lambda, a partial or a bound method as well.
        config: a dataclass, mapping, namespace or model of which every field joins, or a plain value.
        artifacts: files and folders that count by content; with a mapping, under names of your own.
        tokenizer: counts in parts. One that the function reads by itself counts without being named here.
        irrelevant: name of a part → why it cannot move the result. A field's name covers what lies under it.
        rows: a few, each given to ``function`` as its one argument in a child that can change nothing; what it reads
            there joins. Without rows, code that opens files or draws is refused where it stands.
        project: the folder whose own place says nothing; by default that of the function's repository.
        seconds: after which the probe rows are ended, and the key refused.

    Raises:
        KeyRefusedError: a part cannot be computed; every such part is named, and there is no key.

    Source: anchors-mechanisms C1, recommended design 1 and 2.
    Blind to: code chosen by a name made at run time; a branch that no row takes and no source shows; what a native
        library reads by itself; hardware and its libraries.
    """
    place = Path(project) if project is not None else project_of(function)
    omissions = _Omissions(irrelevant or {})
    gathered = Gathered(place, omissions.leaves_out)
    closure = Closure(gathered)
    closure.follow(function)
    if config is not None:
        for name, value in _fields(config, "", closure):
            closure.setting(name, value)
    for name, path in _artifacts(artifacts, place):
        _artifact(gathered, name, path)
    if tokenizer is not None:
        closure.value("tokenizer", "tokenizer", tokenizer)
    closure.drain()
    if rows is not None:
        seen = trace(function, list(islice(rows, MOST_ROWS)), memories=gathered.memories, seconds=seconds)
        _traced(closure, seen)
        closure.drain()
    else:
        seen = None
    gathered.add("interpreter", "python", [platform.python_implementation(), platform.python_version()], _python())
    problems = {**gathered.problems, **_doors(gathered, seen, omissions), **omissions.problems()}
    if problems:
        raise KeyRefusedError("\n".join(_refused(name, saw) for name, saw in sorted(problems.items())))
    return Preimage((*gathered.parts.values(), *omissions.parts()))


def _python() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}"


class _Omissions:
    """What a person left out of the key, by name and with a reason; a name that meets nothing is a slip."""

    def __init__(self, irrelevant: Mapping[str, str]) -> None:
        self._reasons = dict(irrelevant)
        self._met: set[str] = set()

    def leaves_out(self, kind: str, name: str) -> bool:
        for said in (name, f"{kind} {name}", *(_heads(name) if kind in ("config", "tokenizer") else ())):
            if said in self._reasons:
                self._met.add(said)
                return True
        return False

    def problems(self) -> dict[str, str]:
        unmet = {f"{IRRELEVANT} {said}": "no part of that name" for said in self._reasons if said not in self._met}
        empty = {f"{IRRELEVANT} {said}": "no reason" for said, why in self._reasons.items() if not why.strip()}
        return {**unmet, **empty}

    def parts(self) -> Iterator[Part]:
        for said, why in self._reasons.items():
            yield Part(IRRELEVANT, said, digest_of(canonical(said)), shown(why))


def _heads(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _fields(config: Any, prefix: str, closure: Closure) -> Iterator[tuple[str, Any]]:
    """Yield every field of a configuration with its dotted name, those of fields that are configurations too."""
    inner = _items(config, closure, is_whole=not prefix)
    if inner is None:
        yield prefix or "value", config
        return
    closure.methods_of(config)
    if not inner:
        yield prefix or "value", {}
    for name, value in inner.items():
        yield from _fields(value, f"{prefix}.{name}" if prefix else name, closure)


def _items(config: Any, closure: Closure, *, is_whole: bool) -> dict[str, Any] | None:
    """Return the fields of a configuration, or None for a value."""
    if isinstance(config, Mapping):
        return dict(config) if all(isinstance(name, str) for name in config) else None
    if isinstance(config, type):
        return None
    if dataclasses.is_dataclass(config):
        return {
            **_added(config, closure),
            **{each.name: getattr(config, each.name) for each in dataclasses.fields(config)},
        }
    if hasattr(type(config), "model_fields"):
        return {**vars(config), **(getattr(config, "model_extra", None) or {})}
    if hasattr(type(config), "__attrs_attrs__"):
        return {each.name: getattr(config, each.name) for each in type(config).__attrs_attrs__}
    if isinstance(config, (Namespace, SimpleNamespace)):
        return dict(vars(config))
    if hasattr(config, "_asdict"):
        return dict(config._asdict())
    plain = isinstance(config, (str, bytes, int, float, list, tuple, set, frozenset, Path))
    return dict(vars(config)) if is_whole and not plain and hasattr(config, "__dict__") else None


def _added(config: Any, closure: Closure) -> dict[str, Any]:
    """Return what a dataclass holds beside its fields; of a package's own class no devices, processes and the like."""
    held = dict(getattr(config, "__dict__", {}))
    if closure.is_first_party(type(config)):
        return held
    plain = (str, int, float, bool, list, tuple, dict, set, type(None))
    return {name: value for name, value in held.items() if not name.startswith("_") and isinstance(value, plain)}


def _artifacts(artifacts: Any, project: Path) -> Iterator[tuple[str, Path]]:
    if isinstance(artifacts, (str, Path)):
        artifacts = (artifacts,)
    if isinstance(artifacts, Mapping):
        yield from ((str(name), Path(path)) for name, path in artifacts.items())
    else:
        yield from ((place_of(Path(path).absolute(), project), Path(path)) for path in artifacts)


def _artifact(gathered: Gathered, name: str, path: Path) -> None:
    try:
        if path.is_dir():
            digest, files = digest_of_folder(path)
            gathered.add("artifact", name, digest, f"{files:,} files")
        else:
            gathered.add("artifact", name, digest_of_file(path), f"{path.stat().st_size:,} bytes")
    except OSError as error:
        gathered.problems[f"artifact {name}"] = error.strerror or str(error)


def _traced(closure: Closure, seen: Trace) -> None:
    for variable in seen.variables:
        closure.gathered.variable(variable, closure.former.text)
    for path in seen.files:
        try:
            closure.gathered.file(path)
        except OSError as error:
            closure.gathered.problems[f"file {Path(path).name}"] = error.strerror or str(error)


def _doors(gathered: Gathered, seen: Trace | None, omissions: _Omissions) -> dict[str, str]:
    """Return what the code reaches for and nobody has seen: a key without it would be a guess."""
    found = dict(seen.problems) if seen is not None else {}
    kinds = {kind for kind, _ in gathered.parts}
    met = {
        "files": not kinds.isdisjoint(("file", "folder", "artifact")),
        "environment": seen is not None and "environment" in kinds,
        "random": seen is not None and seen.seeds_itself,
    }
    asks = "and there are no rows to see what it finds" if seen is None else "and on no probe row it did"
    for door, how in gathered.accused.items():
        if not met.get(door):
            found.setdefault(door, f"{how}, {asks}")
    return {door: saw for door, saw in found.items() if not omissions.leaves_out("door", door)}


def _refused(name: str, saw: str) -> str:
    return refusal(
        subject=f"cache key, {name}",
        expected="content that is the same in every process",
        saw=saw,
        means="There is no key, so nothing is cached: a key without this part would serve old results.",
        action=f"Make it plain data, hand it in as config or artifact, or say irrelevant={{{name!r}: reason}}.",
        unaffected="the function itself, which can be called without a cache",
    )


def project_of(function: Any) -> Path:
    """Return the folder of the repository or project in which a function is written, or where the process stands."""
    while not hasattr(function, "__code__"):
        inner = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
        inner = inner or getattr(function, "__func__", None) or vars(type(function)).get("__call__")
        if inner is None or inner is function or not callable(inner):
            return Path.cwd()
        function = inner
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    file = getattr(function, "__globals__", {}).get("__file__")
    if not file:
        return Path.cwd()
    folder = Path(os.path.realpath(file)).parent
    return next(
        (each for each in (folder, *folder.parents) if any((each / mark).exists() for mark in _PROJECT)), folder
    )
