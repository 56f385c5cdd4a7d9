"""Names that files give, held against what is installed: the one place where a request meets a signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.lint.against import Row
from affidavit.lint.catalogue import Catalogue, Missing
from affidavit.lint.configs import ParserRequest
from affidavit.lint.readers import unsaid
from affidavit.lint.request import Given, Request, Unread
from affidavit.lint.scripts import Parser
from affidavit.lint.union import callees, with_nested
from affidavit.names import history
from affidavit.names.answer import Answer, judge
from affidavit.names.signature import Signature


@dataclass(frozen=True, kw_only=True)
class Word:
    """One name at one place, and what is to be said of it."""

    path: Path
    line: int
    callee: str
    name: str
    said: str


@dataclass
class Held:
    """What became of the names: counted by the kind of file they stand in, and those of which something is to be said.

    ``unknown`` raise; ``doubted`` are swallowed and look like a name that is read; ``noted`` are taken and deprecated.
    ``calls`` counts the places in scripts that were judged.
    """

    examined: Counter[str] = field(default_factory=Counter)
    unknown: list[Word] = field(default_factory=list)
    doubted: list[Word] = field(default_factory=list)
    noted: list[Word] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    calls: int = 0

    def count(self, origin: str, given: tuple[Given, ...]) -> None:
        """Count the names of one place."""
        self.examined[origin] += len(given)
        self.calls += origin == "script"


def hold(requests: Iterable[Request], catalogue: Catalogue) -> Held:
    """Return what the installed callables say of the names in these requests.

    A guarded request is counted and not judged: whoever wrote ``except TypeError`` knows.

    Source: hf-stack-spike §1, anchors-mechanisms C2.
    Blind to: callees that could not be resolved, and names that are decided at run time; they are not counted.
    """
    held = Held()
    missing: dict[str, tuple[Request, Missing, int]] = {}
    for request in (one for one in with_nested(requests) if one.given):
        found = [catalogue.find(callee) for callee in callees(request)]
        absent = next((one for one in found if isinstance(one, Missing) and one.package_absent), None)
        if absent is not None:
            package = request.callee.partition(".")[0]
            first, _, count = missing.get(package, (request, absent, 0))
            missing[package] = (first, absent, count + len(request.given))
        signatures = [one for one in found if isinstance(one, Signature)]
        if len(signatures) == len(found):
            held.count(request.origin, request.given)
            held.packages.update(signature.package for signature in signatures)
            for given in request.given:
                _judge(held, request, given, signatures)
        for mapping, gone in unsaid(request, catalogue):
            held.count(request.origin, mapping.inside)
            for given, near in () if request.guard else gone:
                said = f"no code that reads {mapping.name} says it"
                held.doubted.append(_word(request, given, said, near))
    for first, absent, count in missing.values():
        said = f"{absent.why}, so {count} {'name is' if count == 1 else 'names are'} not judged"
        held.unread.append(Unread(path=first.path, line=first.line, why=said))
    return held


def absent_targets(held: Held, parsers: Iterable[Parser], catalogue: Catalogue) -> None:
    """Add the parsers that fill a class of a package which is not installed: nobody can say what they take."""
    said = {unread.why.partition(",")[0] for unread in held.unread}
    for parser in parsers:
        for base in (base for one in parser.targets for base in one.bases):
            found = catalogue.find(base)
            if isinstance(found, Missing) and found.package_absent and found.why not in said:
                said.add(found.why)
                why = f"{found.why}, so what {parser.kind} takes is not known"
                held.unread.append(Unread(path=parser.path, line=parser.line, why=why))


def note_moved(held: Held, rows: Iterable[Row]) -> None:
    """Add what moved under names that stayed, since the versions of an earlier run."""
    for row in rows:
        held.noted.append(
            Word(path=row.path, line=row.line, callee=row.callee, name=row.name, said=f"{row.kind}: {row.said}")
        )


def hold_parser(held: Held, asked: ParserRequest) -> None:
    """Add what a parser of the project's own says of the names that a file gives it; it needs no catalogue."""
    held.count(asked.origin, asked.given)
    via = f" ({asked.via})" if asked.via else ""
    for given, near in asked.unknown:
        meant = f"; did you mean {near}?" if near else ""
        said = f"its parser has no such name{meant}{via}"
        held.unknown.append(Word(path=given.path, line=given.line, callee=asked.callee, name=given.name, said=said))


def _judge(held: Held, request: Request, given: Given, signatures: list[Signature]) -> None:
    answers = [judge(signature, given.name) for signature in signatures]
    known = [
        signature.parameters[given.name]
        for signature, answer in zip(signatures, answers, strict=True)
        if answer.answer is Answer.KNOWN
    ]
    if known:
        if known[0].deprecated:
            held.noted.append(_word(request, given, known[0].deprecated))
        return
    if request.guard:
        return
    near = next((answer.near for answer in answers if answer.near), "")
    told = next(filter(None, (history.said_of(signature.callee, given.name) for signature in signatures)), "")
    if all(answer.answer is Answer.UNKNOWN for answer in answers):
        package = signatures[0].package
        held.unknown.append(_word(request, given, told or f"no such name in {package}", "" if told else near))
    elif near or told:
        held.doubted.append(_word(request, given, told or "swallowed without a word", "" if told else near))


def _word(request: Request, given: Given, said: str, near: str = "") -> Word:
    said = f"{said}; did you mean {near}?" if near else said
    via = f" ({request.via})" if request.via else ""
    return Word(path=given.path, line=given.line, callee=request.callee, name=given.name, said=f"{said}{via}")
