"""What was read out of the Python files of a project: requests, parsers, and names that are declared or read."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from affidavit.lint.request import Field, Request, Unread


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a command line.

    Args:
        flags: as written: ``("--learning_rate", "--lr")``; a positional has its bare name. Those that the action adds
            stand behind them: ``--no-shuffle`` of ``BooleanOptionalAction``.
        dest: the attribute in which the value is found.
        choices: the literal values that are allowed, empty where all are or where they are no literals.
        has_value: it takes a value, unlike ``store_true``.
        type: source text of ``type=``, "" where none is given.
        default: source text of ``default=``, "" where none is given.
        nargs: source text of ``nargs=``, "" where none is given.
    """

    flags: tuple[str, ...]
    dest: str
    path: Path
    line: int
    choices: tuple[str, ...] = ()
    has_value: bool = True
    type: str = ""
    default: str = ""
    nargs: str = ""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One field of a first-party dataclass; ``annotation`` and ``default`` are source text."""

    name: str
    path: Path
    line: int
    annotation: str = ""
    default: str = ""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A dataclass that a parser fills.

    Args:
        name: dotted: ``transformers.TrainingArguments``, or ``train.ModelArguments`` where it is first-party.
        is_first_party: it is written in the project.
        fields: the fields that the project writes itself, those of first-party bases among them.
        bases: the installed classes whose fields it has as well; for an installed class this is the class itself.
        why_open: why it may take more names than these, "" where it does not.
    """

    name: str
    is_first_party: bool
    fields: tuple[Declared, ...] = ()
    bases: tuple[str, ...] = ()
    why_open: str = ""


@dataclass(frozen=True, kw_only=True)
class Parse:
    """One call that parses: ``method`` as written, and the file that it names, "" where that is no literal."""

    method: str
    path: Path
    line: int
    file: str = ""


@dataclass(frozen=True, kw_only=True)
class Parser:
    """A parser that a script makes, and everything it takes.

    Args:
        kind: ``argparse``, ``HfArgumentParser`` or ``TrlParser``.
        targets: the dataclasses it fills, in their order; none for argparse.
        options: what ``add_argument`` adds to it, those of its groups and subparsers among them.
        lenient: why an unknown key is dropped without a word (``allow_extra_keys=True``, ``parse_known_args``), ""
            where it is refused or where its rest is kept.
        why_open: why it may take more than this, "" where it does not: an option whose name is no literal, a target
            that is not known, the parser handed to a function that was not followed.
        parses: where it parses.
        allow_abbrev: it takes ``--lear`` for ``--learning_rate``.
    """

    path: Path
    line: int
    kind: str
    targets: tuple[Target, ...] = ()
    options: tuple[Option, ...] = ()
    lenient: str = ""
    why_open: str = ""
    parses: tuple[Parse, ...] = ()
    allow_abbrev: bool = True


@dataclass(frozen=True, kw_only=True)
class Late:
    """An attribute that is set on a finished object: ``args.warmup_ratio = .1``.

    ``callee`` is the installed class the object certainly is of. Whether anybody reads the name is for the catalogue
    and for :attr:`Reading.read_names` to say.
    """

    callee: str
    name: str
    path: Path
    line: int


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Everything that the scripts of a project say.

    Args:
        requests: the names that surely reach a watched callable.
        fields: what is certain without a catalogue: options and fields that nobody reads, ``type=bool``.
        fields_examined: how many options and fields were looked at.
        unread: files that could not be read.
        parsers: every parser that is made.
        late: attributes set after construction.
        read_names: every name that is read anywhere, as an attribute or as a string; to be asked one by one.
        files: how many files were looked at; those that name nothing of interest are not parsed.
    """

    requests: tuple[Request, ...] = ()
    fields: tuple[Field, ...] = ()
    fields_examined: int = 0
    unread: tuple[Unread, ...] = ()
    parsers: tuple[Parser, ...] = ()
    late: tuple[Late, ...] = ()
    read_names: Container[str] = frozenset()
    files: int = 0
