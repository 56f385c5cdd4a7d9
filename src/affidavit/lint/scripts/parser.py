"""Parsers: what a script declares for its command line, and where what was parsed goes."""

from __future__ import annotations

import ast
from typing import Final

from affidavit.lint.scripts import guard, lookup
from affidavit.lint.scripts.argument import Arguments
from affidavit.lint.scripts.build import Build
from affidavit.lint.scripts.reading import Declared, Option, Parse, Target
from affidavit.lint.scripts.state import constant
from affidavit.lint.scripts.value import (
    UNKNOWN,
    Class,
    Constant,
    Installed,
    Instance,
    Items,
    Leftover,
    Namespace,
    Object,
    Parsing,
    Ref,
    Value,
    shown,
)
from affidavit.lint.scripts.walk import Walk

_KINDS: Final = {"ArgumentParser": "argparse", "HfArgumentParser": "HfArgumentParser", "TrlParser": "TrlParser"}
_TOPS: Final = frozenset({"argparse", "transformers", "trl"})
_PLAIN: Final = frozenset({"store_true", "store_false", "count", "store_const", "append_const"})
_SAME: Final = frozenset({"add_argument_group", "add_mutually_exclusive_group"})
_FILES: Final = frozenset({"parse_yaml_file", "parse_json_file"})
_INTO: Final = frozenset({"parse_args_into_dataclasses", "parse_args_and_config", "parse_dict", *_FILES})
_HARMLESS: Final = frozenset(
    {"error", "exit", "format_help", "format_usage", "print_help", "print_usage", "set_defaults", "register"}
)


def makes(dotted: str) -> bool:
    """Whether calling this makes a parser."""
    top, _, _ = dotted.partition(".")
    return top in _TOPS and dotted.rpartition(".")[2] in _KINDS


def make(walk: Walk, node: ast.Call, dotted: str, arguments: Arguments, *, is_own: bool = False) -> Value:
    """Return a parser; the same one however often its line is walked."""
    place = (walk.path, node.lineno, node.col_offset)
    build = walk.found.builds.get(place)
    if build is None:
        build = Build(path=walk.path, line=node.lineno, kind=_KINDS[dotted.rpartition(".")[2]])
        walk.found.builds[place] = build
        build.allow_abbrev = not arguments.is_false("allow_abbrev")
        if is_own:
            build.open("its class has an __init__ of its own")
        if build.kind == "argparse":
            _parents(walk, build, arguments)
        else:
            _fill(walk, build, arguments)
    return Parsing(build)


def _parents(walk: Walk, build: Build, arguments: Arguments) -> None:
    parents = arguments.names["parents"].value if "parents" in arguments.names else Items(())
    for one in parents.items if isinstance(parents, Items) else (UNKNOWN,):
        if isinstance(one, Parsing):
            build.options += one.build.options
            build.sure |= one.build.sure
            one.build.whole = True  # its options are read through the other
        else:
            build.open("a parent that is not known")


def _fill(walk: Walk, build: Build, arguments: Arguments) -> None:
    value = arguments.positional[0] if arguments.positional else UNKNOWN
    if "dataclass_types" in arguments.names:
        value = arguments.names["dataclass_types"].value
    filled: list[Value] = []
    for one in value.items if isinstance(value, Items) else (value,):
        target = _target(one)
        if target is None:
            build.open("a dataclass that is not known")
            filled.append(UNKNOWN)
        else:
            build.targets.append(target)
            filled.append(Object(one, build) if isinstance(one, Class) else Instance(target.name))
    build.filled = tuple(filled) if isinstance(value, Items | Class | Installed) else ()


def _target(value: Value) -> Target | None:
    if isinstance(value, Installed):
        return Target(name=value.dotted, is_first_party=False, bases=(value.dotted,))
    if not isinstance(value, Class):
        return None
    above = lookup.lineage(value)
    fields: dict[str, Declared] = {}
    for one in reversed(above.own):
        for line in one.node.body:
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                annotation = ast.unparse(line.annotation)
                if not annotation.startswith(("ClassVar", "typing.ClassVar")):
                    fields[line.target.id] = Declared(
                        name=line.target.id,
                        path=one.source.path,
                        line=line.lineno,
                        annotation=annotation,
                        default=ast.unparse(line.value) if line.value is not None else "",
                    )
    return Target(
        name=f"{value.source.module}.{value.node.name}",
        is_first_party=True,
        fields=tuple(fields.values()),
        bases=above.installed,
        why_open="" if above.is_whole else "a base class that is not known",
    )


def method(walk: Walk, node: ast.Call, parsing: Parsing, name: str, arguments: Arguments) -> Value:
    """Do to a parser what one of its methods does."""
    build = parsing.build
    if name == "add_argument":
        _add(walk, node, parsing, arguments)
        return UNKNOWN
    if name in _SAME:
        return parsing
    if name in ("add_subparsers", "add_parser"):
        return Parsing(build, is_optional=True)
    if name in ("parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args"):
        build.parsed(Parse(method=name, path=walk.path, line=node.lineno))
        if len(arguments.positional) > 1 or "namespace" in arguments.names:
            build.whole = True
            return UNKNOWN
        if "known" not in name:
            return Namespace(build)
        build.has_leftover = name
        return Items((Namespace(build), Leftover(build)))
    if name in _INTO and build.kind != "argparse":
        return _into(walk, node, build, name, arguments)
    if name not in _HARMLESS:
        for value in (parsing, *arguments.values()):
            walk.lose(value)
    return UNKNOWN


def _add(walk: Walk, node: ast.Call, parsing: Parsing, arguments: Arguments) -> None:
    build = parsing.build
    flags = tuple(text for text in map(constant, arguments.positional) if text is not None)
    if not flags or len(flags) < len(arguments.positional) or arguments.has_star:
        build.open("an option whose name is no literal")
        return
    action = arguments.text("action")
    if action in ("help", "version"):
        return
    long = [flag for flag in flags if flag.startswith("--")]
    dest = arguments.text("dest") or (long or list(flags))[0].lstrip("-").replace("-", "_")
    words = {one.arg: one.value for one in node.keywords if one.arg is not None}
    choices = arguments.names["choices"].value if "choices" in arguments.names else UNKNOWN
    literal = tuple(
        str(one.value) for one in (choices.items if isinstance(choices, Items) else ()) if isinstance(one, Constant)
    )
    build.add(
        Option(
            flags=(*flags, *_negated(flags, words.get("action"))),
            dest=dest,
            path=walk.path,
            line=node.lineno,
            choices=literal if isinstance(choices, Items) and len(literal) == len(choices.items) else (),
            has_value=action not in _PLAIN
            and "BooleanOptionalAction" not in ast.unparse(words.get("action", node.func)),
            type=ast.unparse(words["type"]) if "type" in words else "",
            default=shown(words.get("default")),
            nargs=ast.unparse(words["nargs"]) if "nargs" in words else "",
        )
    )
    is_computed = arguments.is_open or ("dest" in words and not arguments.text("dest"))
    is_suppressed = guard.dotted(words["default"]).endswith("SUPPRESS") if "default" in words else False
    if not is_computed and not parsing.is_optional and not is_suppressed and not walk.guard:
        build.sure.add(dest)


def _negated(flags: tuple[str, ...], action: ast.expr | None) -> tuple[str, ...]:
    """Return the flags that an action adds: ``BooleanOptionalAction`` does, and so may one of the project's own."""
    if action is None or isinstance(action, ast.Constant):
        return ()
    return tuple(f"--no-{flag[2:]}" for flag in flags if flag.startswith("--"))


def _into(walk: Walk, node: ast.Call, build: Build, name: str, arguments: Arguments) -> Value:
    """``parse_…``: the dataclasses, in their order, and the rest where it is asked for."""
    file = arguments.text(name.replace("parse_", ""), 0) if name in _FILES else ""
    build.parsed(Parse(method=name, path=walk.path, line=node.lineno, file=file))
    for option, is_lenient in (("allow_extra_keys", True), ("fail_with_unknown_args", False)):
        if option in arguments.names and not (arguments.is_false(option) if is_lenient else arguments.is_true(option)):
            literal = arguments.is_true(option) if is_lenient else arguments.is_false(option)
            build.lenient = f"{option}={is_lenient}" if literal else f"{option}= is computed"
    if name in ("parse_dict", *_FILES) and len(arguments.positional) > 1:
        build.lenient = build.lenient or "allow_extra_keys is given by its place"
    source = arguments.positional[0] if arguments.positional else UNKNOWN
    if name == "parse_dict" and isinstance(source, Ref) and len(build.targets) == 1 and not build.lenient:
        target = build.targets[0]
        own = {one.name for one in target.fields}
        if len(target.bases) == 1 and not target.why_open:
            given = {key: one for key, one in walk.heap.read(source).items() if key not in own}
            if given:
                walk.emit(target.bases[0], node, given, is_open=bool(own) or walk.heap.is_open(source))
    asks_rest = "return_remaining_strings" in arguments.names and not arguments.is_false("return_remaining_strings")
    has_rest = asks_rest and arguments.is_true("return_remaining_strings")
    is_plain = not arguments.is_open and (has_rest or not asks_rest) and len(arguments.positional) < 2
    if not build.filled or not is_plain:
        walk.hand_over(Items(build.filled))
        return UNKNOWN
    if has_rest:
        build.has_leftover = "return_remaining_strings=True"
        return Items((*build.filled, Leftover(build)))
    return Items(build.filled)


def returned(value: Value, function: str) -> None:
    """Note that a function hands back what was parsed, to callers who may not be followed."""
    build = value.build if isinstance(value, Namespace | Object | Parsing) else None
    if build is not None:
        build.returned.add(function)
    if isinstance(value, Items):
        for one in value.items:
            returned(one, function)
