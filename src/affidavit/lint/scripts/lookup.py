"""What a name of another file, or an attribute of a value, is."""

from __future__ import annotations

import re
from typing import Final

from affidavit.lint.scripts.source import Source
from affidavit.lint.scripts.value import (
    UNKNOWN,
    Bound,
    Class,
    Entry,
    Function,
    Installed,
    Instance,
    Lazy,
    Lineage,
    Method,
    Namespace,
    Object,
    Parsing,
    Ref,
    Super,
    Value,
)
from affidavit.lint.scripts.walk import Walk

_GLOBAL: Final = re.compile(rb"\n[ \t]+global[ \t]+([\w, \t]+)")
_SHRINKS: Final = re.compile(rb"\.(?:pop|popitem|clear)\(")
_SHRUNK: Final = re.compile(rb"[ \t]+(?:[^\n#]*\W)?(\w+)\Z")
_DELETED: Final = re.compile(rb"\n[ \t]+del[ \t]+(\w+)\[")
_NEXT: Final = re.compile(rb"^(?:def|class|async|@|if)\b", re.MULTILINE)
_DICTS: Final = re.compile(rb"\{|\bdict\(|\*\*\w+|[Pp]arse")
_PLAIN_BASES: Final = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})


def resolve(walk: Walk, lazy: Lazy) -> Value:
    """Return what another file of the project says a name is; the file is walked when it is first asked for."""
    if not lazy.name:
        return lazy
    if lazy.source.frame is None and not lazy.source.is_worthy and not _may_matter(lazy.source, lazy.name):
        return UNKNOWN
    frame = walk.enter(walk, lazy.source)
    value = frame.names.get(lazy.name) if frame is not None else None
    if isinstance(value, Lazy):
        return resolve(walk, value) if value != lazy else UNKNOWN
    if isinstance(value, Ref) and lazy.name in volatile(lazy.source):
        return UNKNOWN
    if value is None and lazy.source.is_package:
        module = walk.project.find(lazy.name, lazy.source, 1)
        return Lazy(module, "") if module is not None else UNKNOWN
    return UNKNOWN if value is None else value


def _may_matter(source: Source, name: str) -> bool:
    """Whether a file that watches nothing can make of this name a dict, a dataclass, or something it imports."""
    if name not in source.matters:
        source.matters[name] = _looks(source, name.encode())
    return source.matters[name]


def _looks(source: Source, name: bytes) -> bool:
    raw = source.raw
    if name not in raw:
        return source.is_package or b"import *" in raw
    found = re.search(rb"^(?:async[ \t]+)?(def|class)[ \t]+" + name + rb"\b", raw, re.MULTILINE)
    if found is None:
        return b"{" in raw or b"dict(" in raw or b"import" in raw
    if found.group(1) == b"class":
        return b"dataclass" in raw or b"TypedDict" in raw
    after = _NEXT.search(raw, found.end())
    return _DICTS.search(raw, found.start(), after.start() if after is not None else len(raw)) is not None


def volatile(source: Source) -> set[str]:
    """Return the variables of a module that its functions replace, or take names away from."""
    if source.volatile is None:
        found = {name.strip() for line in _GLOBAL.findall(source.raw) for name in line.decode().split(",")}
        found |= {name.decode() for name in _DELETED.findall(source.raw)}
        for shrinks in _SHRINKS.finditer(source.raw):  # a line is looked at from its end: from its start is slow
            start = source.raw.rfind(b"\n", 0, shrinks.start()) + 1
            name = _SHRUNK.match(source.raw[start : shrinks.start()])
            if name is not None:
                found.add(name.group(1).decode())
        source.volatile = found
    return source.volatile


def attribute(walk: Walk, value: Value, name: str) -> Value:
    """Return an attribute of a value."""
    if isinstance(value, Installed):
        return Installed(f"{value.dotted}.{name}")
    if isinstance(value, Lazy):
        return resolve(walk, Lazy(value.source, name))
    if isinstance(value, Class):
        return _of_class(value, name)
    if isinstance(value, Super):
        return _of_super(value.owner, name)
    if isinstance(value, Namespace | Object) and name == "__dict__":
        return variables(walk, value)
    if isinstance(value, Object):
        return _of_object(value, name)
    if isinstance(value, Instance | Ref | Parsing):
        return Method(value, name)
    return UNKNOWN


def lineage(cls: Class) -> Lineage:
    """Return what stands above a class."""
    if not cls.above:
        cls.above.append(_lineage(cls))
    return cls.above[0]


def _lineage(cls: Class) -> Lineage:
    own: list[Class] = []
    installed: list[str] = []
    is_whole = True
    queue: list[Value] = [cls]
    while queue:
        one = queue.pop(0)
        if isinstance(one, Class):
            if one not in own:
                own.append(one)
                queue += one.bases
        elif isinstance(one, Installed):
            if one.dotted not in _PLAIN_BASES and one.dotted not in installed:
                installed.append(one.dotted)
        else:
            is_whole = False
    return Lineage(tuple(own), tuple(installed), is_whole)


def member(cls: Class, name: str) -> tuple[Value, Class] | None:
    """Return what the project's part of a class says a name is, and which class says it."""
    for one in lineage(cls).own:
        if name in one.body:
            return one.body[name], one
    return None


def _of_class(cls: Class, name: str) -> Value:
    found = member(cls, name)
    if found is None:
        return UNKNOWN
    value, _ = found
    if isinstance(value, Function):
        kinds = _decorators(value)
        if "classmethod" in kinds:
            return Bound(value, cls)
        return UNKNOWN if "property" in kinds else value
    return value


def _of_object(value: Object, name: str) -> Value:
    found = member(value.of, name)
    if found is not None:
        function, _ = found
        if not isinstance(function, Function):
            return UNKNOWN  # an instance may have another
        kinds = _decorators(function)
        if "staticmethod" in kinds:
            return function
        return UNKNOWN if "property" in kinds else Bound(function, value.of if "classmethod" in kinds else value)
    above = lineage(value.of)
    if above.is_whole and len(above.installed) == 1 and not any("__getattr__" in one.body for one in above.own):
        return Method(Instance(above.installed[0], is_exact=False), name)
    return UNKNOWN


def _of_super(owner: Class, name: str) -> Value:
    if len(owner.bases) > 1 and any(
        not (isinstance(base, Installed) and base.dotted in _PLAIN_BASES) for base in owner.bases[1:]
    ):
        return UNKNOWN
    base = owner.bases[0] if owner.bases else UNKNOWN
    if isinstance(base, Installed):
        return Installed(base.dotted if name == "__init__" else f"{base.dotted}.{name}")
    if isinstance(base, Class):
        found = member(base, name)
        if found is not None:
            return Bound(found[0], UNKNOWN) if isinstance(found[0], Function) else UNKNOWN
        above = lineage(base)
        if above.is_whole and len(above.installed) == 1:
            return Installed(above.installed[0] if name == "__init__" else f"{above.installed[0]}.{name}")
    return UNKNOWN


def _decorators(function: Function) -> set[str]:
    return {getattr(one, "id", getattr(one, "attr", "")) for one in function.node.decorator_list}


def variables(walk: Walk, value: Value) -> Value:
    """Return ``vars(value)``: the fields of what a parser made. From here on any of them may be read."""
    walk.hand_over(value)
    build = value.build if isinstance(value, Namespace | Object) else None
    if isinstance(value, Namespace) and build is not None:
        entries = {
            option.dest: Entry(option.dest, option.path, option.line, None, UNKNOWN)
            for option in build.options
            if option.dest in build.sure and option.dest not in build.removed
        }
        found = walk.heap.new(entries)
        walk.heap.open(found)
        return found
    if isinstance(value, Object) and build is not None:
        for target in build.targets:
            if target.name == f"{value.of.source.module}.{value.of.node.name}" and not target.bases:
                return walk.heap.new(
                    {one.name: Entry(one.name, one.path, one.line, None, UNKNOWN) for one in target.fields}
                )
    return UNKNOWN
