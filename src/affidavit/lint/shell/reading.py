"""The launchers of a project: the options that each gives to a script, and the configs that it names."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from affidavit.lint.configs.asked import Asked, ParserRequest
from affidavit.lint.configs.named import Named
from affidavit.lint.configs.taken import Lookup, ReadSomewhere
from affidavit.lint.request import Field, Request, Unread
from affidavit.lint.scripts.reading import Parser
from affidavit.lint.shell.command import Command, Word
from affidavit.lint.shell.given import ask_program, ask_script
from affidavit.lint.shell.launch import Launch, launch
from affidavit.lint.shell.named import configs_of
from affidavit.lint.shell.reader import commands
from affidavit.lint.shell.script import Scripts

_SHELLS = frozenset({"bash", "sh", "sbatch", "zsh", "ssh", "qsub"})
_LARGEST_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class LauncherReading:
    """Everything that the launchers of a project say.

    Args:
        requests: options for the installed classes behind a script's parser.
        parser_requests: options for parsers that fill no installed class, to be judged without a catalogue.
        fields: options that a lenient parser drops.
        fields_examined: how many options were looked at.
        named: the configs that are handed to a script or a tool, for who reads those.
        unread: files that could not be read.
    """

    requests: tuple[Request, ...] = ()
    parser_requests: tuple[ParserRequest, ...] = ()
    fields: tuple[Field, ...] = ()
    fields_examined: int = 0
    named: tuple[Named, ...] = ()
    unread: tuple[Unread, ...] = ()


def read_launchers(
    files: Sequence[Path], parsers: Sequence[Parser], root: Path, lookup: Lookup | None = None
) -> LauncherReading:
    """Return what these shell scripts give to the scripts they start.

    Args:
        files: shell scripts.
        parsers: the parsers of the project's scripts.
        root: the folder that commands are most likely run in.
        lookup: the catalogue; without it an abbreviated option of an installed class cannot be told from a wrong one.
    Source: argparse (abbreviations), transformers 5.24 HfArgumentParser (dashes, ``--no_x``), trl 1.16 cli.
    Blind to: options that a variable brings from outside of the file; scripts whose parser another module makes.
    """
    asked = Asked()
    scripts, elsewhere = Scripts(parsers, root), ReadSomewhere(parsers, lookup, ())
    named: list[Named] = []
    unread: list[Unread] = []
    for path in files:
        text = _text(path)
        if isinstance(text, Unread):
            unread.append(text)
            continue
        for command in _all(commands(text)):
            named.extend(_read(asked, command, path, scripts, root, lookup, elsewhere))
    return _reading(asked, named, unread)


def read_command(
    argv: Sequence[str], parsers: Sequence[Parser], cwd: Path, root: Path, lookup: Lookup | None = None
) -> LauncherReading:
    """Return what one command gives to the script that it starts: the command that a run is about to begin."""
    asked = Asked()
    words = tuple(Word(text=word, line=1) for word in argv)
    command = Command(words=words, line=1)
    place = cwd / "command line"
    scripts, elsewhere = Scripts(parsers, root), ReadSomewhere(parsers, lookup, ())
    named = list(_read(asked, command, place, scripts, root, lookup, elsewhere))
    return _reading(asked, named, [])


def _reading(asked: Asked, named: list[Named], unread: list[Unread]) -> LauncherReading:
    return LauncherReading(
        requests=tuple(asked.requests),
        parser_requests=tuple(asked.parser_requests),
        fields=tuple(asked.fields),
        fields_examined=asked.fields_examined,
        named=tuple(dict.fromkeys(named)),
        unread=tuple(unread),
    )


def _text(path: Path) -> str | Unread:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            return ""
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        return Unread(path=path, line=1, why=f"cannot be opened: {error.strerror}")


def _all(found: Sequence[Command]) -> Iterator[Command]:
    """Yield commands, and those of a here-document that a shell is fed."""
    for command in found:
        yield command
        if command.fed and command.name.rpartition("/")[2] in _SHELLS:
            for inner in commands(command.fed):
                words = tuple(replace(word, line=word.line + command.fed_line) for word in inner.words)
                yield replace(inner, words=words, line=inner.line + command.fed_line)


def _read(
    asked: Asked,
    command: Command,
    path: Path,
    scripts: Scripts,
    root: Path,
    lookup: Lookup | None,
    elsewhere: Container[str],
) -> Iterator[Named]:
    started: Launch | None = launch(command)
    if started is None:
        return
    if started.program:
        yield from configs_of(started, path, command.folder, root, ())
        ask_program(asked, started, path, lookup)
        return
    script = scripts.script_of(started, path, command.folder)
    mine = scripts.parsers_of(script)
    yield from configs_of(started, path, command.folder, root, mine)
    if script is not None and mine:
        ask_script(asked, started, path, script, mine, lookup, elsewhere)
