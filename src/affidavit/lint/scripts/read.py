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
from affidavit.lint.scripts.interest import Interest, stirring
from affidavit.lint.scripts.project import Project
from affidavit.lint.scripts.reading import Reading
from affidavit.lint.scripts.source import WATCHED, Source, quiet
from affidavit.lint.scripts.statement import execute
from affidavit.lint.scripts.value import Frame, Function
from affidavit.lint.scripts.walk import Walk, requests

_FOLLOWED: Final = 300
"""Calls of the project's own functions that are followed in one file."""
_IMPORTS: Final = re.compile(rb"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import|import[ \t]+([\w.]+))", re.MULTILINE)
_PASSES: Final = re.compile(rb"\bdef\b[\s\S]*\*\*\w+")


def read_scripts(files: Sequence[Path], root: Path, watched: frozenset[str] = WATCHED) -> Reading:
    """Return which names surely reach which watched callable, and what the scripts declare for their command lines.

    A misspelt name in a dict is seen by no type checker; one that is popped, filtered or guarded must not be.

    Args:
        files: the project's Python files.
        root: where its imports start.
        watched: top-level packages whose callables are looked at.
    Returns:
        Only what is certain. What could not be read is in ``unread``; what is not certain is nowhere.
    Source: anchors C2, the tables of call shapes.
    Blind to: exec, import hooks, ``sys.path`` entries that a script adds, attributes of ``self``, click and typer.
    """
    with quiet():
        project = Project(files, root)
        interest = Interest(watched)
        worthy = [source for source in project.sources.values() if interest.holds(source.raw)]
        _tell(worthy)
        shields = frozenset(name for source in worthy for name in _shields(source))
        blank = Frame(source=Source(path=root, module=""), outer=None)
        walk = Walk(project, watched, blank, evaluate, execute, _enter, shields)
        for source in [*worthy, *_callers(project, worthy)]:
            _walked(walk, source, interest)
        read = frozenset(name for source in project.sources.values() for name in unread.names(source.raw))
        fields, examined = unread.fields(
            walk.found.builds.values(), walk.found.followed, project.sources.values(), read
        )
    parsers = sorted(walk.found.builds.values(), key=lambda build: (str(build.path), build.line))
    return Reading(
        requests=requests(walk.found),
        fields=(*fields, *(field for source in worthy for field in unread.texts(source))),
        fields_examined=examined,
        unread=tuple(_troubles(project, walk)),
        parsers=tuple(build.finish() for build in parsers),
        late=tuple(walk.found.late),
        read_names=read,
        files=len(project.sources),
    )


def _tell(worthy: list[Source]) -> None:
    """Tell every file by which names it can know what is installed; functions and constants are known to all."""
    own = {source.path: guard.probes(source.raw) for source in worthy}
    shared = {name for names in own.values() for name in names if name.isupper()}
    for source in worthy:
        source.probes = frozenset(own[source.path] | shared)


def _shields(source: Source) -> set[str]:
    if b"TypeError" not in source.raw or b"except" not in source.raw or source.tree is None:
        return set()
    return guard.shielded(source.tree)


def _callers(project: Project, worthy: list[Source]) -> Iterator[Source]:
    """Yield the files that could give a dict to a function of a watched file, though they watch nothing themselves."""
    conduits = {source.path for source in worthy if _PASSES.search(source.raw)}
    stems = tuple({(path.parent.name if path.stem == "__init__" else path.stem).encode() for path in conduits})
    known = {source.path for source in worthy}
    for source in project.sources.values():
        if source.path in known or not any(stem in source.raw for stem in stems):
            continue
        for dots, module, plain in _IMPORTS.findall(source.raw):
            found = project.find((module or plain).decode("utf-8", "replace"), source, len(dots))
            if found is not None and found.path in conduits:
                yield source
                break


def _walked(walk: Walk, source: Source, interest: Interest) -> None:
    """Walk a module, then each of its functions that can come to a watched callable."""
    if _enter(walk, source) is None or source.frame is None:
        return
    stirs = stirring(source, interest)
    walk.budget = _FOLLOWED
    for function in source.functions:
        if stirs(function.node):
            walk.heap.dicts = {}
            _alone(walk, function)
    walk.heap.dicts = {}


def _alone(walk: Walk, function: Function) -> None:
    guards, walk.guards = walk.guards, []
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
    walk.budget = budget
    return source.frame


def _troubles(project: Project, walk: Walk) -> Iterator[Unread]:
    for source in project.sources.values():
        if source.trouble is not None:
            line, why = source.trouble
            yield Unread(path=source.path, line=line, why=why)
    for path, line in walk.found.too_deep:
        yield Unread(path=path, line=line, why="nested too deep to be followed")
