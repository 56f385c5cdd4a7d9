"""Requests as they are judged: those of nested mappings apart, a callee that may be any of several taken apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from affidavit.lint.request import Request
from affidavit.names.nested import target

UNION = " + "
"""Between the callees of a request whose names may belong to any of them, as a parser's do to its dataclasses."""


def callees(request: Request) -> tuple[str, ...]:
    """Return the callables that may take the names."""
    return tuple(request.callee.split(UNION))


def short(callee: str) -> str:
    """Return a callee as a person writes it: the class, or the class and its method."""
    if "." not in callee or callee.endswith(".py"):
        return callee
    names = []
    for one in callee.split(UNION):
        *_, before, last = ("", "", *one.split("."))
        names.append(f"{before}.{last}" if before[:1].isupper() else last)
    return " or ".join(names)


def with_nested(requests: Iterable[Request]) -> Iterator[Request]:
    """Yield every request, and behind it one for each mapping that is the value of a name with a target of its own."""
    for request in requests:
        yield request
        for given in request.given:
            targets = (target(callee, given.name) for callee in callees(request)) if given.inside else ()
            inner = next(filter(None, targets), None)
            if inner is not None:
                via = f"{given.name} of {short(request.callee)}"
                yield from with_nested((replace(request, callee=inner, given=given.inside, line=given.line, via=via),))
