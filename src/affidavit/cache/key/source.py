"""What code does, as a digest: of the live code object, because that is what runs, whatever its file says by now.

Nothing here is read from a file, so a patched method, a cell of a notebook, a lambda and ``__main__`` are as good as an
imported function. Comments, docstrings, line numbers, the order of functions and the names of local variables are no
part of it. The names of parameters are, because callers use them; so are the names of functions and of captured
variables, because code finds them by these names. A renamed function is a miss, and nothing worse.

Source: hf-stack-spike §5 "over-miss": the renamed function, the comment and the docstring all rebuilt the cache.
Blind to: nothing in the code; what code reads is :mod:`affidavit.cache.key.reads`.
"""

from __future__ import annotations

import dis
import inspect
from functools import lru_cache
from types import CodeType
from typing import Any

from affidavit.cache.preimage import canonical, digest_of

LOCALS = frozenset((*dis.haslocal, *dis.hasfree))
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_CONSTANTS = frozenset(dis.hasconst)
_MEANS = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
_SEES_LOCALS = frozenset(("locals", "vars", "eval", "exec", "dir"))
"""With one of these in it, code can read the names of its variables, so they count."""


@lru_cache(maxsize=4096)
def digest_of_code(code: CodeType) -> str:
    """Return the digest of what a code object and all code within it does."""
    return digest_of(canonical(_form(code)))


def instructions(code: CodeType) -> list[dis.Instruction]:
    """Return the instructions that do something; a prefix is part of the one it extends."""
    return [found for found in dis.get_instructions(code) if found.opname not in ("EXTENDED_ARG", "CACHE", "NOP")]


def _form(code: CodeType) -> list[Any]:
    steps = instructions(code)
    at = _indices(code)
    ordinal: dict[str, Any] = {name: name for name in _parameters(code)}
    keeps_names = not _SEES_LOCALS.isdisjoint(code.co_names)

    def local(name: Any) -> Any:
        if isinstance(name, tuple):
            return [local(each) for each in name]
        return ordinal.setdefault(name, name if keeps_names else len(ordinal))

    form: list[Any] = []
    for step in steps:
        if step.opcode in _JUMPS:
            argument: Any = at.get(step.argval, step.argval)
        elif step.opcode in LOCALS:
            argument = local(step.argval)
        elif step.opcode in _CONSTANTS:
            argument = constant(step.argval)
        else:
            argument = step.argval if isinstance(step.argval, (str, int)) else step.arg
        form.append([step.opname, argument])
    shape = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & _MEANS]
    guarded = getattr(code, "co_exceptiontable", b"").hex()
    return [shape, list(_parameters(code)), form, guarded]


def _indices(code: CodeType) -> dict[int, int]:
    """Return for each offset the index of the instruction that a jump there reaches."""
    found: dict[int, int] = {}
    index = 0
    for step in dis.get_instructions(code):
        found[step.offset] = index
        index += step.opname not in ("EXTENDED_ARG", "CACHE", "NOP")
    return found


def _parameters(code: CodeType) -> tuple[str, ...]:
    starred = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + starred]


def constant(value: Any) -> Any:
    """Return the one form of a constant of the compiler; types stay apart, and a set has no order."""
    if isinstance(value, CodeType):
        return ["code", value.co_name, _form(value)]
    if isinstance(value, tuple):
        return ["tuple", [constant(each) for each in value]]
    if isinstance(value, frozenset):
        return ["frozenset", sorted((constant(each) for each in value), key=canonical)]
    if isinstance(value, slice):
        return ["slice", [constant(value.start), constant(value.stop), constant(value.step)]]
    return [type(value).__name__, repr(value)]
