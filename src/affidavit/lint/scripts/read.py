"""Read the scripts of a project: nothing of them is imported or run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from affidavit.lint.request import Unread
from affidavit.lint.scripts import guard, unread
from affidavit.lint.scripts.expression import evaluate
from affidavit.lint.scripts.follow import alone
from affidavit.lint.scripts.found import requests
from affidavit.lint.scripts.interest import Interest, is_stirred, stir
from affidavit.lint.scripts.kept import Kept
from affidavit.lint.scripts.project import Project
from affidavit.lint.scripts.reading import Reading
from affidavit.lint.scripts.source import WATCHED, Source, quiet
from affidavit.lint.scripts.statement import execute
from affidavit.lint.scripts.torch import trains
from affidavit.lint.scripts.value import Frame, Function
from affidavit.lint.scripts.walk import Walk

_FOLLOWED: Final = 5000
"""Lines of the project's own functions that are followed from one file."""
_IMPORTS: Final = re.compile(rb"\n(?:from (\.*)([\w.]*) import (\([^)]*\)|[^\n]*)|import ([\w.]+))")
_NAMED: Final = re.compile(rb"(\w+)(?:[ \t]+as[ \t]+(\w+))?")
_SHIELD: Final = re.compile(rb"^[ \t]*except\*?[^\n:]*\bTypeError\b", re.MULTILINE)


def read_scripts(
    files: Sequence[Path],
    root: Path,
    watched: frozenset[str] = WATCHED,
    *,
    named: frozenset[Path] = frozenset(),
    store: Path | None = None,
) -> Reading:
    """Return which names surely reach which watched callable, and what the scripts declare for their command lines.

    A misspelt name in a dict is seen by no type checker; one that is popped, filtered or guarded must not be.

    Args:
        files: the project's Python files.
        root: where its imports start.
        watched: top-level packages whose callables are looked at.
        named: files that somebody asked for: where one is no Python that is said whatever it is about. Of the others
            it is said where they import a watched package.
        store: the folder in which readings are kept between processes, None to keep none.
    Returns:
        Only what is certain. What could not be read is in ``unread``; what is not certain is nowhere.
    Source: anchors C2, the tables of call shapes.
    Blind to: exec, import hooks, ``sys.path`` entries that a script adds, attributes of ``self``, click and typer.
    """
    with quiet():
        project = Project(files, root)
        if store is None:
            return _read(project, watched, named)[0]
        kept = Kept(store, root)
        key = kept.key(project.sources.values(), watched, named)
        known = kept.get(key)
        if known is not None:
            return known
        reading, read = _read(project, watched, named)
        kept.put(key, reading, read.names)
        return reading


def _read(project: Project, watched: frozenset[str], named: frozenset[Path]) -> tuple[Reading, unread.ReadNames]:
    """All trees are gone when this returns, and so before the collector wakes up and would walk them."""
    interest = Interest(watched)
    for source in project.sources.values():
        source.aliases = tuple(dict.fromkeys(interest.aliases(source.raw)))
    worthy = [source for source in project.sources.values() if interest.holds(source)]
    for source in worthy:
        source.is_worthy = True
    shields = frozenset(name for source in worthy for name in _shields(source))
    blank = Frame(source=Source(path=project.root, module=""), outer=None)
    walk = Walk(project, watched, blank, evaluate, execute, _enter, shields)
    _walk_all(walk, worthy, interest)
    _walk_all(walk, _callers(project, walk.found.conduits, interest), interest)
    found, sources = walk.found, project.sources.values()
    read = unread.ReadNames(sources)
    fields, examined = unread.fields(found.builds.values(), found.followed, sources, read)
    texts = [field for source in worthy for field in unread.texts(source)]
    for source in sources:
        if source.path in named or source.aliases or interest.is_named(source.raw):
            source.check()
    troubles = tuple(_troubles(project, walk))
    for source in sources:
        source.forget()
    parsers = sorted(found.builds.values(), key=lambda build: (str(build.path), build.line))
    reading = Reading(
        requests=requests(found),
        fields=(*fields, *texts),
        fields_examined=examined,
        unread=troubles,
        parsers=tuple(build.finish() for build in parsers),
        late=tuple(found.late),
        read_names=read,
        files=len(project.sources),
    )
    return reading, read


def _walk_all(walk: Walk, sources: list[Source], interest: Interest) -> None:
    for _ in range(2):  # what a file calls of another, once that one is walked
        for source in sources:
            if _enter(walk, source) is not None:
                stir(source, interest)
    for source in sources:
        _walked(walk, source, interest)


def _shields(source: Source) -> set[str]:
    if b"TypeError" not in source.raw or not _SHIELD.search(source.raw) or source.tree is None:
        return set()
    return guard.shielded(source.tree)


def _callers(project: Project, conduits: set[Path], interest: Interest) -> list[Source]:
    """Return the files that come to a watched callable through others: by a name that one of them imports, or by a
    function that hands a dict on."""
    exports = {source.path: set(source.aliases) for source in project.sources.values()}
    exports = {path: names for path, names in exports.items() if names or path in conduits}
    rest = [source for source in project.sources.values() if not source.is_worthy]
    imports = {source.path: _IMPORTS.findall(b"\n" + source.raw) for source in rest}
    found: dict[Path, Source] = {}
    for _ in range(2):
        stems = {(path.parent if path.stem == "__init__" else path).stem.encode() for path in exports}
        for source in rest:
            if source.path not in found:
                near = [one for one in imports[source.path] if (one[1] or one[3]).rpartition(b".")[2] in stems]
                through = _through(project, source, near, conduits, exports) if near else None
                if through is not None:
                    found[source.path] = source
                    exports.setdefault(source.path, set()).update(through)
    return list(found.values())


def _through(
    project: Project,
    source: Source,
    imports: list[tuple[bytes, bytes, bytes, bytes]],
    conduits: set[Path],
    exports: dict[Path, set[bytes]],
) -> set[bytes] | None:
    """Return the watched names that a file imports from others of the project, None where it comes to nothing."""
    names: set[bytes] = set()
    is_caller = False
    for dots, module, listed, plain in imports:
        other = project.find((module or plain).decode("utf-8", "replace"), source, len(dots))
        if other is None or other.path not in exports:
            continue
        is_caller = is_caller or other.path in conduits
        for name, alias in _NAMED.findall(listed):
            if name in exports[other.path]:
                names.add(alias or name)
    return names if names or is_caller else None


def _walked(walk: Walk, source: Source, interest: Interest) -> None:
    """Walk each function of a module that can come to a watched callable."""
    names = tuple(name.encode() for name in source.stirring)
    has_torch = trains(source.raw)
    walk.budget = _FOLLOWED
    for function in source.functions:
        if is_stirred(source.text(function.node), interest, names, has_torch):
            walk.heap.dicts = {}
            _alone(walk, function)
    walk.heap.dicts = {}


def _alone(walk: Walk, function: Function) -> None:
    guards, walk.guards, walk.asked, walk.heap.conditions = walk.guards, [], [], []
    frame = walk.frame
    try:
        alone(walk, function)
    except RecursionError:
        _too_deep(walk, function.frame.source, function.node.lineno)
    walk.guards, walk.frame = guards, frame


def _too_deep(walk: Walk, source: Source, line: int) -> None:
    walk.found.too_deep[(source.path, line)] = None
    walk.calls, walk.inside, walk.returns, walk.pending = [], [], [], []


def _enter(walk: Walk, source: Source) -> Frame | None:
    """Return a module's names, walking it when it is first asked for."""
    if source.frame is not None or source.tree is None:
        return source.frame
    source.frame = Frame(source=source, outer=None)
    asked, walk.asked = walk.asked, []
    conditions, walk.heap.conditions = walk.heap.conditions, []
    kept = (walk.guards, walk.calls, walk.inside, walk.returns, walk.pending, walk.heap.dicts, walk.frame)
    walk.guards, walk.calls, walk.inside, walk.returns, walk.pending, walk.heap.dicts = [], [], [], [], [], {}
    walk.frame = source.frame
    budget, walk.budget = walk.budget, _FOLLOWED
    try:
        walk.execute(walk, source.tree.body)
        source.functions = tuple(walk.pending)
    except RecursionError:
        _too_deep(walk, source, 0)
    walk.heap.settle()
    walk.guards, walk.calls, walk.inside, walk.returns, walk.pending, walk.heap.dicts, walk.frame = kept
    walk.budget, walk.asked, walk.heap.conditions = budget, asked, conditions
    return source.frame


def _troubles(project: Project, walk: Walk) -> Iterator[Unread]:
    for source in project.sources.values():
        if source.trouble is not None:
            line, why = source.trouble
            yield Unread(path=source.path, line=line, why=why)
    for path, line in walk.found.too_deep:
        yield Unread(path=path, line=line, why="nested too deep to be followed")
