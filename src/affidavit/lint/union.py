"""Requests as they are judged: those of nested mappings apart, a callee that may be any of several taken apart."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from affidavit.lint.request import Given, Request
from affidavit.names.nested import target

_CHOSEN_BY = {"lr_scheduler_kwargs": ("lr_scheduler_type",), "generation_kwargs": ("use_vllm",)}
"""Names whose default chooses, where they are not given."""
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
            if not given.inside:
                continue
            beside = _beside(request, given)
            inner = next(filter(None, (target(callee, given.name, beside) for callee in callees(request))), None)
            if inner is not None:
                yield from with_nested((_nested(request, given, inner),))


def _nested(request: Request, given: Given, callee: str) -> Request:
    return replace(
        request,
        callee=callee,
        given=given.inside,
        line=given.line,
        via=f"{given.name} of {short(request.callee)}",
        is_open=given.is_open,
        positional=0,
    )


def _beside(request: Request, given: Given) -> dict[str, str] | None:
    """Return the values that may choose where a mapping goes, None where others may be given, in another place.

    A file that is no script is one of several: what it does not say a launcher or another file may.
    """
    names = {one.name for one in request.given}
    may_be_elsewhere = request.origin != "script" and not names.issuperset(_CHOSEN_BY.get(given.name, ()))
    if request.is_open or given.is_open or request.positional > 1 or may_be_elsewhere:
        return None
    return {one.name: _plain(one.value) for one in (*request.given, *given.inside)}


def _plain(text: str) -> str:
    """Return a literal without its quotes; what a config says plainly is itself."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return str(value) if isinstance(value, str | int | float | bool) else ""
