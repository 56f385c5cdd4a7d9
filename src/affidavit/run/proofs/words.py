"""What the line of a gate names: the files among its words, and the programs of the tree that it runs.

Blind to: what a variable, a substitution or a pattern of the shell stands for; what a program runs in its turn.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_INTERPRETER = re.compile(r"(?:python|pypy|bash|sh|dash|zsh|node|perl|ruby|Rscript|julia|source|\.)[\d.]*")
_BEFORE = frozenset({"!", "if", "then", "do", "while", "until", "else", "elif", "time", "exec", "env", "nice", "sudo"})
_TESTS = frozenset({"pytest", "py.test"})
_TAKES = frozenset({"-W", "-X", "-o", "-O", "--rcfile"})
"""Options of an interpreter whose value is the next word."""


def paths(line: str) -> Iterator[str]:
    """Yield what may be a path of the tree: each word of a line and its parts, and the module after ``-m``."""
    said = _split(line)
    for place, word in enumerate(said):
        if place and said[place - 1] == "-m":
            yield from _module(word)
        for part in (word, word.partition("::")[0], word.rpartition("=")[2], word.strip("();&|<>'\"")):
            if part and part not in (".", "./") and not Path(part).is_absolute() and ".." not in Path(part).parts:
                yield os.path.normpath(part)


def programs(line: str) -> frozenset[str]:
    """Return the paths that the commands of a line run: a script, a module, a test file; never mere arguments."""
    found: set[str] = set()
    for command in _commands(line):
        found.update(os.path.normpath(path) for path in _run_by(command))
    return frozenset(found)


def _commands(line: str) -> Iterator[Sequence[str]]:
    reader = shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n")
    reader.whitespace_split = True
    reader.whitespace = " \t\r"
    reader.commenters = ""
    command: list[str] = []
    try:
        for word in reader:
            if word and set(word) <= set("();|&\n"):
                yield command
                command = []
            else:
                command.append(word)
    except ValueError:
        command = line.split()
    yield command


def _run_by(command: Sequence[str]) -> Iterator[str]:
    rest = list(command)
    while rest and (rest[0] in _BEFORE or _ASSIGNED.match(rest[0]) or rest[0] in "{}"):
        rest.pop(0)
    if not rest:
        return
    program, arguments = rest[0], rest[1:]
    yield program
    name = Path(program).name
    if name in _TESTS:
        yield from _tests(arguments)
    if not _INTERPRETER.fullmatch(name if program != "." else "."):
        return
    while arguments and arguments[0].startswith("-"):
        option = arguments.pop(0)
        if option == "-m" and arguments:
            yield from _module(arguments[0])
            if arguments[0] in _TESTS:
                yield from _tests(arguments[1:])
            return
        if option == "-c":
            return
        if option in _TAKES and arguments:
            arguments.pop(0)
    yield from arguments[:1]


def _tests(arguments: Sequence[str]) -> Iterator[str]:
    yield from (path for path in (word.partition("::")[0] for word in arguments) if path.endswith(".py"))


def _module(name: str) -> tuple[str, ...]:
    path = name.replace(".", "/")
    inner = (f"{path}.py", f"{path}/__main__.py", f"{path}/__init__.py", path)
    return (*inner, *(f"src/{one}" for one in inner))


def _split(line: str) -> Sequence[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
