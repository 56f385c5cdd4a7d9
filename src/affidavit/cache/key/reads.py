"""What code reads from outside itself: the global names with the attributes asked of them, and what it imports.

Read from the instructions, so code in branches that never ran is read too.

Source: hf-stack-spike §6 (``dis`` closure walk: 0.2 ms; it names what is loaded, and the live objects give the values).
Blind to: an attribute asked of a local variable, and names made at run time (``getattr`` with a variable, ``eval``);
what is handed to either counts whole.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from affidavit.cache.key.source import LOCALS, instructions

_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_OF_A_BODY = ("__annotations__", "__conditional_annotations__", "__name__")
"""What the body of a class reads for itself, whether or not anybody asks."""
_BETWEEN = ("SWAP", "POP_TOP", "ROT_TWO", "PUSH_NULL", "PRECALL")


@dataclass(frozen=True)
class Import:
    """A module as an import statement names it; ``top`` where the statement binds its first package only."""

    module: str
    level: int = 0
    top: bool = False


@dataclass(frozen=True)
class Read:
    """A global name, or an imported module, and the attributes asked of it one after the other.

    ``literal`` is the string that stands beside it, as in ``os.environ["X"]``. A ``statement`` only imports.
    """

    root: str | Import
    attributes: tuple[str, ...] = ()
    literal: str | None = None
    statement: bool = False


Bindings = Mapping[str, tuple[Import, tuple[str, ...]]]


@lru_cache(maxsize=4096)
def reads_of(code: CodeType) -> tuple[Read, ...]:
    """Return what a code object and all code within it reads, in the order in which it stands there."""
    return tuple(dict.fromkeys(_reads(code, {})))


def _reads(code: CodeType, outer: Bindings) -> Iterator[Read]:
    steps = instructions(code)
    free = {name: bound for name, bound in outer.items() if name in code.co_freevars}
    own: dict[str, tuple[Import, tuple[str, ...]]] = {}
    for place, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            for name, module, attributes in _imports(steps, place):
                own[name] = (module, attributes)
                yield Read(module, attributes, statement=not attributes)
    bound = {**free, **own}
    for place, step in enumerate(steps):
        if step.opname == "LOAD_NAME" and step.argval in _OF_A_BODY:
            continue
        if step.opname in _GLOBALS:
            yield _chain(str(step.argval), (), steps, place)
        elif step.opname in ("LOAD_SUPER_ATTR", "IMPORT_NAME", "IMPORT_FROM"):
            continue
        elif step.opcode in LOCALS and step.opname.startswith("LOAD"):
            names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            for name in names:
                if name in bound:
                    yield _chain(bound[name][0], bound[name][1], steps, place)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _reads(inner, bound)


def _chain(root: str | Import, attributes: tuple[str, ...], steps: list[dis.Instruction], place: int) -> Read:
    before = steps[place - 1] if place else None
    after = place + 1
    while after < len(steps) and steps[after].opname in (*_ATTRIBUTES, "PUSH_NULL"):
        if steps[after].opname in _ATTRIBUTES:
            attributes = (*attributes, str(steps[after].argval))
        after += 1
    beside = steps[after] if after < len(steps) else None
    if beside is not None and beside.opname == "CONTAINS_OP":
        beside = before
    literal = beside.argval if beside is not None and beside.opname.startswith("LOAD_CONST") else None
    return Read(root, attributes, literal if isinstance(literal, str) else None)


def _imports(steps: list[dis.Instruction], place: int) -> Iterator[tuple[str, Import, tuple[str, ...]]]:
    """Yield (name bound, module, attributes) for one import statement."""
    name = str(steps[place].argval)
    level = steps[place - 2].argval if place > 1 else 0
    level = level if isinstance(level, int) else 0
    listed = steps[place - 1].argval if place else None
    taken: tuple[str, ...] = ()
    for step in steps[place + 1 :]:
        if step.opname == "IMPORT_FROM":
            taken = (str(step.argval),) if listed else ()
        elif step.opname.startswith("STORE_"):
            bound = step.argval[0] if isinstance(step.argval, tuple) else step.argval
            top = not listed and bound == name.partition(".")[0]
            yield str(bound), Import(name, level, top), taken
            if not listed:
                return
        elif (step.opname == "POP_TOP" and listed) or step.opname not in _BETWEEN:
            return
