"""What the parsers of a project take by name: their own options and fields, and the installed classes behind them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Protocol

from affidavit.lint.scripts.reading import Parser
from affidavit.names.signature import Parameter, Rest, Signature

CLI_METHODS = ("parse_args", "parse_known_args", "parse_args_into_dataclasses", "parse_args_and_config")
FILE_METHODS = ("parse_yaml_file", "parse_json_file", "parse_dict", "parse_args_and_config")
_FILE_LENIENT = ("allow_extra_keys", "fail_with_unknown_args")
_CLI_LENIENT = ("parse_known_args", "return_remaining_strings", "parse_known_intermixed_args")


class Lookup(Protocol):
    """What answers for installed names; anything that is no Signature says that there is none."""

    def find(self, callee: str, /) -> object: ...


@dataclass(frozen=True, kw_only=True)
class Taken:
    """Everything that some parsers take, looked up once.

    Args:
        own: names that need no catalogue: fields that the project writes, and options by their attribute.
        fields: those of ``own`` that are fields of a dataclass.
        dests: options as they are written, of ``add_argument``, and the attribute that each sets.
        installed: the classes whose fields are taken as well, dotted.
        parameters: their parameters, of those that were found.
        numeric: the names of ``own`` and ``parameters`` that hold a number and never text.
        is_closed: every class was found and takes nothing else.
        why_open: why more may be taken, "" where it may not.
    """

    own: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    dests: Mapping[str, str] = field(default_factory=dict)
    installed: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    numeric: frozenset[str] = frozenset()
    is_closed: bool = True
    why_open: str = ""

    @property
    def known(self) -> frozenset[str]:
        return self.own | self.parameters.keys()

    @property
    def callee(self) -> str:
        """Return the installed classes as a request names them."""
        return " + ".join(self.installed)


def taken(parsers: Iterable[Parser], lookup: Lookup | None, *, options: bool) -> Taken:
    """Return what these parsers take together; ``options`` says whether those of ``add_argument`` are among it."""
    own: set[str] = set()
    fields: set[str] = set()
    dests: dict[str, str] = {}
    numeric: set[str] = set()
    installed: dict[str, None] = {}
    why_open = ""
    for parser in parsers:
        why_open = why_open or parser.why_open
        if options:
            own.update(option.dest for option in parser.options)
            dests.update((flag, option.dest) for option in parser.options for flag in option.flags)
        for target in parser.targets:
            why_open = why_open or target.why_open
            fields.update(declared.name for declared in target.fields)
            numeric.update(one.name for one in target.fields if _is_number(one.annotation))
            installed.update(dict.fromkeys(target.bases if target.is_first_party else target.bases or (target.name,)))
    own |= fields
    parameters, is_closed = look_up(installed, lookup)
    numeric.update(numeric_of(parameters) - own)
    return Taken(
        own=frozenset(own),
        fields=frozenset(fields),
        dests=dests,
        installed=tuple(installed),
        parameters=parameters,
        numeric=frozenset(numeric),
        is_closed=is_closed,
        why_open=why_open,
    )


class ReadSomewhere:
    """Every name that some code of the project reads, or some other parser of it takes: looked up when it is asked."""

    def __init__(self, parsers: Sequence[Parser], lookup: Lookup | None, read_names: Container[str]) -> None:
        self._parsers = parsers
        self._lookup = lookup
        self._read_names = read_names

    def __contains__(self, name: object) -> bool:
        return name in self._read_names or name in self._known

    @cached_property
    def _known(self) -> frozenset[str]:
        return taken(self._parsers, self._lookup, options=True).known


def look_up(classes: Iterable[str], lookup: Lookup | None) -> tuple[dict[str, Parameter], bool]:
    """Return the parameters of these classes, and whether all were found and take nothing else."""
    parameters: dict[str, Parameter] = {}
    is_closed = True
    for callee in classes:
        signature = lookup.find(callee) if lookup is not None else None
        if isinstance(signature, Signature):
            parameters.update(signature.parameters)
            is_closed = is_closed and signature.rest is Rest.CLOSED
        else:
            is_closed = False
    return parameters, is_closed


def numeric_of(parameters: Mapping[str, Parameter]) -> set[str]:
    """Return the names whose default is a number; one that may also be text has none here."""
    return {name for name, one in parameters.items() if _is_literal_number(one.default)}


def reads_files(parser: Parser) -> bool:
    """Whether a parser fills its dataclasses from a config file."""
    return bool(parser.targets) and any(method(parse.method) in FILE_METHODS for parse in parser.parses)


def reads_flags(parser: Parser) -> bool:
    """Whether a parser reads the command line."""
    return any(method(parse.method) in CLI_METHODS for parse in parser.parses)


def method(written: str) -> str:
    """Return the name of a method, whatever it is called on."""
    return written.partition("(")[0].rpartition(".")[2]


def lenient_of_files(parser: Parser) -> str:
    """Return why a parser drops unknown keys of a file, "" where it refuses them."""
    return "" if _speaks_only_of(parser.lenient, _CLI_LENIENT, _FILE_LENIENT) else parser.lenient


def lenient_of_flags(parser: Parser) -> str:
    """Return why a parser drops unknown options, "" where it refuses or keeps them."""
    return "" if _speaks_only_of(parser.lenient, _FILE_LENIENT, _CLI_LENIENT) else parser.lenient


def keeps_rest(parser: Parser) -> str:
    """Return why what a parser does not take may be read by somebody else, "" where it is refused or dropped.

    Blind to: which of several calls in a file asks for the rest; one is enough.
    """
    asks = not parser.lenient and any(_asks_for_rest(parse.path) for parse in parser.parses)
    return f"{parser.path.name} asks for what its parser does not take" if asks else ""


@cache
def _asks_for_rest(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return re.search(r"parse_known_|remaining_strings\s*=\s*(?!False)", text) is not None


def _speaks_only_of(text: str, words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return any(word in text for word in words) and not any(word in text for word in others)


def _is_number(annotation: str) -> bool:
    """Whether an annotation allows a number and no text: ``float``, ``Optional[int]``, ``int | None``."""
    words = set(annotation.replace("typing.", "").replace("[", " ").replace("]", " ").replace("|", " ").split())
    return bool(words & {"float", "int"}) and words <= {"float", "int", "Optional", "Union", "None", "float,", "int,"}


def _is_literal_number(default: str) -> bool:
    text = default.strip().lstrip("+-")
    if text in ("inf", "nan") or (not text[:1].isdigit() and text[:1] != "."):
        return False
    try:
        float(text.replace("_", ""))
    except ValueError:
        return False
    return True
