"""What one document asks of whom: the names that a certain reader gives on, and those of which only likeness speaks."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field, replace

from affidavit.lint.configs.document import Document, Entry, given_of, last
from affidavit.lint.configs.taken import Taken
from affidavit.lint.request import Field, Given, Request
from affidavit.lint.scripts.reading import Parser
from affidavit.names.answer import nearest


@dataclass(frozen=True, kw_only=True)
class ParserRequest:
    """Names that a file gives to a reader whose names are all known here: no catalogue is needed to judge them.

    Args:
        callee: the reader as a person names it: ``train.py``, or an installed schema.
        parser: the parser of the project, None for a schema.
        given: every name, as the parser calls it.
        known: the names it takes.
        guard: why a name that is not taken would do no harm there; it is not judged then.
    """

    callee: str
    given: tuple[Given, ...]
    known: frozenset[str]
    origin: str
    parser: Parser | None = None
    via: str = ""
    guard: str = ""

    @property
    def unknown(self) -> tuple[tuple[Given, str], ...]:
        """Return each name that is refused, and the nearest one that is not, "" where none is near."""
        if self.guard:
            return ()
        return tuple((given, nearest(given.name, self.known)) for given in self.given if given.name not in self.known)


@dataclass
class Asked:
    """What was found so far, in one file or in many."""

    requests: list[Request] = field(default_factory=list)
    parser_requests: list[ParserRequest] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    doubtful: list[Field] = field(default_factory=list)
    fields_examined: int = 0


def ask(
    asked: Asked,
    document: Document,
    entries: Iterable[Entry],
    takes: Taken,
    *,
    parser: Parser | None = None,
    via: str,
    guard: str = "",
) -> None:
    """Add the request that these entries make: to the installed classes, or to the parser where it has none."""
    given = tuple(given_of(entry, document.path) for entry in entries)
    put(asked, given, takes, parser=parser, origin="config", via=via, guard=guard)


def put(
    asked: Asked,
    given: tuple[Given, ...],
    takes: Taken,
    *,
    parser: Parser | None,
    origin: str,
    via: str,
    guard: str = "",
) -> None:
    """Add names: those that the project's own fields and options take need no catalogue, the others go to it."""
    guard = guard or takes.why_open
    mine = tuple(one for one in given if one.name in takes.own) if takes.installed else given
    if mine and parser is not None:
        asked.parser_requests.append(
            ParserRequest(
                parser=parser,
                callee=parser.path.name,
                given=mine,
                known=takes.own,
                origin=origin,
                via=via,
                guard=guard,
            )
        )
    theirs = tuple(one for one in given if one.name not in takes.own) if takes.installed else ()
    if theirs:
        first = theirs[0]
        asked.requests.append(
            Request(
                callee=takes.callee,
                given=theirs,
                path=first.path,
                line=first.line,
                origin=origin,
                via=via,
                guard=guard,
                is_open=origin == "launcher",  # a config beside it may give the rest
            )
        )


def dropped(document: Document, takes: Taken, lenient: str, reader: str, elsewhere: Container[str]) -> Iterable[Field]:
    """Yield the keys that a lenient reader drops: it has no such field, and nothing else in the project reads them.

    Blind to: classes that were not found or that take anything; of those nothing is said.
    """
    if takes.why_open or not takes.is_closed:
        return
    for entry in last(document.entries):
        if entry.key not in takes.known and entry.key not in elsewhere:
            near = nearest(entry.key, takes.known)
            meant = f"; did you mean {near}?" if near else ""
            said = f"dropped without a word by {reader} ({lenient}){meant}"
            yield Field(path=document.path, line=entry.line, name=entry.key, kind="dropped", said=said)


def without(document: Document, names: Container[str]) -> Document:
    """Return a document without some of its outermost keys."""
    return replace(document, entries=tuple(entry for entry in document.entries if entry.key not in names))


def split(entries: Iterable[Entry], is_certain: Callable[[Entry], bool]) -> tuple[list[Entry], list[Entry]]:
    """Return the entries of which something is certain, and the others."""
    certain: list[Entry] = []
    others: list[Entry] = []
    for entry in entries:
        (certain if is_certain(entry) else others).append(entry)
    return certain, others
