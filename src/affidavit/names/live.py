"""The signature of a live callable: what it names, what it takes out of ``**kwargs``, and where the rest goes.

A decorator shows the signature of what it wraps and may take more than that, so its code is asked and not its looks.

Source: anchors-mechanisms C2 (``**kwargs`` resolution by source: what is popped, what is passed to ``super()``).
Blind to: ``**kwargs`` that go to any other callable; code without source.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.names.signature import REQUIRED, Parameter, Rest, Signature

_HOME = str(Path(__file__).resolve().parents[1])
_READS = ("pop", "get", "setdefault")


@dataclass(frozen=True)
class _Body:
    """What a function does with ``**kwargs``: takes names out, hands the rest up, keeps it, or does something else."""

    taken: frozenset[str]
    above: bool
    kept: bool
    elsewhere: bool


@functools.lru_cache(maxsize=512)
def read(callee: Any) -> Signature | None:
    """Return the signature of a live callable; None where it has none that can be read."""
    try:
        shown = inspect.signature(callee)
    except (TypeError, ValueError):
        return None
    owner = callee if inspect.isclass(callee) else getattr(callee, "__self__", None)
    kind = owner if inspect.isclass(owner) else type(owner)
    known = dict(_shown(shown))
    method = "__init__" if inspect.isclass(callee) else getattr(callee, "__name__", "")
    chain = _chain(callee, kind, method) if owner is not None else iter([callee])
    rest, why = Rest.CLOSED, ""
    for function in chain:
        known.update({one: known.get(one, more) for one, more in _own(function).items()})
        rest, why, goes_on = _rest(function, known)
        if not goes_on:
            break
    else:
        rest, why = Rest.CLOSED, ""
    known.pop("self", None)
    dotted = named(callee)
    return Signature(callee=dotted, package=_package(dotted), parameters=known, rest=rest, why=why)


def named(callee: Any) -> str:
    """Return the dotted name of a callable where it is defined; a method of a class under that class."""
    owner = getattr(callee, "__self__", None)
    if owner is None or inspect.isclass(callee) or inspect.ismodule(owner):
        return f"{getattr(callee, '__module__', '')}.{getattr(callee, '__qualname__', type(callee).__qualname__)}"
    kind = owner if inspect.isclass(owner) else type(owner)
    return f"{kind.__module__}.{kind.__qualname__}.{callee.__name__}"


def resolved(dotted: str) -> Any:
    """Return what a dotted name stands for, where its package is loaded already; None where nothing does."""
    package, _, rest = dotted.partition(".")
    found: Any = sys.modules.get(package)
    for part in rest.split(".") if found is not None and rest else ():
        package = f"{package}.{part}"
        found = sys.modules.get(package) or getattr(found, part, None)
        if found is None:
            return None
    return found


def source(module: str) -> str:
    """Return the source of a module, loaded or not; "" where it has none."""
    loaded = sys.modules.get(module)
    try:
        if loaded is not None:
            return inspect.getsource(loaded)
        spec = importlib.util.find_spec(module)
        return Path(spec.origin).read_text() if spec is not None and spec.origin else ""
    except (ImportError, OSError, TypeError, ValueError):
        return ""


def _shown(signature: inspect.Signature) -> Iterator[tuple[str, Parameter]]:
    for one in signature.parameters.values():
        if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            default = REQUIRED if one.default is one.empty else repr(one.default)
            yield one.name, Parameter(name=one.name, default=default)


def _chain(callee: Any, kind: type[Any], method: str) -> Iterator[Any]:
    """Yield the functions of a method's name, from a class up through those that it is made from."""
    for base in kind.__mro__:
        held = vars(base).get(method)
        function = getattr(held, "__func__", held)
        if callable(function) and base is not object:
            yield function


def _own(function: Any) -> Mapping[str, Parameter]:
    try:
        return dict(_shown(inspect.signature(function)))
    except (TypeError, ValueError):
        return {}


def _rest(function: Any, known: dict[str, Parameter]) -> tuple[Rest, str, bool]:
    """Return where the names go that a function does not know, and whether they go up to the class above."""
    function = _bare(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return Rest.OPEN, "no Python code", False
    if not code.co_flags & inspect.CO_VARKEYWORDS:
        return Rest.CLOSED, "", False
    inner = getattr(function, "__wrapped__", None)
    if inner is not None:
        if _hands_to(function, inner):
            return _rest(inner, known)
        return Rest.OPEN, "a decorator takes more than it shows", False
    body = _body(function)
    if body is None:
        return Rest.OPEN, "its source cannot be read", False
    for name in body.taken:
        known.setdefault(name, Parameter(name=name, default="None", owner=function.__qualname__))
    if body.elsewhere:
        return Rest.OPEN, f"**kwargs of {function.__qualname__}", False
    if body.kept:
        return Rest.KEPT, f"set as attributes by {function.__qualname__}", False
    if body.above:
        return Rest.OPEN, "", True
    return Rest.KEPT, f"dropped by {function.__qualname__}", False


def _bare(function: Any) -> Any:
    """Return a function without what was put around it by us."""
    while hasattr(function, "__wrapped__") and function.__code__.co_filename.startswith(_HOME):
        function = function.__wrapped__
    return function


def _hands_to(wrapper: Any, inner: Any) -> bool:
    """Whether a decorator's function calls what it wraps with all that it was given."""
    closure = inspect.getclosurevars(wrapper).nonlocals
    names = {name for name, held in closure.items() if held is inner}
    tree = _tree(wrapper, outer=True)
    return tree is not None and any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in names
        and any(keyword.arg is None for keyword in node.keywords)
        for node in ast.walk(tree)
    )


def _tree(function: Any, *, outer: bool = False) -> ast.AST | None:
    # inspect looks through decorators; what is asked for here is this very code.
    try:
        lines, _ = inspect.getsourcelines(function.__code__ if outer else function)
        return ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return None


def _body(function: Any) -> _Body | None:
    tree = _tree(function)
    definition = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None) if tree else None
    if definition is None or definition.args.kwarg is None:
        return None
    bag = definition.args.kwarg.arg
    taken: set[str] = set()
    seen: set[int] = set()
    above = kept = False
    for node in ast.walk(definition):
        if isinstance(node, ast.Call):
            if _is_bag(getattr(node.func, "value", None), bag) and getattr(node.func, "attr", "") in _READS:
                taken.update(_strings(node.args[:1]))
                seen.add(id(node.func.value))  # type: ignore[attr-defined]
            spread = [keyword.value for keyword in node.keywords if keyword.arg is None and _is_bag(keyword.value, bag)]
            if spread and _is_super(node.func):
                above = True
                seen.update(map(id, spread))
        elif isinstance(node, ast.Subscript) and _is_bag(node.value, bag):
            taken.update(_strings([node.slice]))
            seen.add(id(node.value))
        elif isinstance(node, ast.Compare) and any(_is_bag(one, bag) for one in node.comparators):
            taken.update(_strings([node.left]))
            seen.update(map(id, node.comparators))
        elif isinstance(node, ast.For) and _sets_attributes(node) and bag in ast.unparse(node.iter):
            kept = True
            seen.update(map(id, ast.walk(node.iter)))
    elsewhere = any(_is_bag(node, bag) and id(node) not in seen for node in ast.walk(definition))
    return _Body(frozenset(taken), above, kept, elsewhere)


def _is_bag(node: object, bag: str) -> bool:
    return isinstance(node, ast.Name) and node.id == bag


def _is_super(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "super"
    )


def _sets_attributes(loop: ast.For) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr"
        for node in ast.walk(loop)
    )


def _strings(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _package(module: str) -> str:
    name = module.partition(".")[0]
    version = getattr(sys.modules.get(name), "__version__", "")
    return f"{name} {version}".strip()
