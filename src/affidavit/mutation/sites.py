"""What can be disarmed in a function: a dozen ways in which a guard stops guarding while the program goes on.

An operator is here for a reason, not for completeness: a full set of mutations has equivalent ones, and then nobody
can ask that all be caught. What only talks (logging, the text of an error) is left alone.

Source: anchors-mechanisms C6 (the disarm set found the gap that 56 general mutants hid); arXiv 2102.11378 (arid nodes).
Blind to: numbers in the function's own text, keyword arguments, context managers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from affidavit.mutation.site import Site, condition, in_body, in_field, in_list

OPERATORS = {
    "condition-never": "the condition is False: the guarded branch is dead",
    "condition-always": "the condition is True: the other branch is dead",
    "boundary": "the limit itself falls on the other side",
    "negation": "a comparison, a not or a ~ means its opposite",
    "operand": "one part of an and/or is gone",
    "refusal": "a raise or an assert is skipped",
    "result": "the answer is None, or the other truth value",
    "unchanged": "what went into a call comes out of it untouched",
    "statement": "a statement with an effect is skipped",
    "term": "one side of an arithmetic or bit operation is gone",
    "loop": "the loop sees no element",
    "jump": "continue and break are exchanged",
    "handler": "what was handled is raised again",
    "table": "a constant table that the function reads is empty",
}
"""Every operator, and what is true of the program under it."""

_BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_OPPOSITE = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_SAYS = frozenset({"log", "logger", "logging", "print", "pprint", "progress", "console", "tqdm"})
_SPEAKS = frozenset({"debug", "info", "warning", "error", "exception", "critical", "flush", "sleep", "collect"})
_CONVERTS = frozenset(
    (
        *("list", "tuple", "set", "dict", "frozenset", "str", "int", "float", "bool", "bytes", "iter", "enumerate"),
        *("copy", "deepcopy", "clone", "detach", "contiguous", "to", "cpu", "cuda", "item", "tolist", "numpy"),
        *("asarray", "array", "tensor", "as_tensor", "long", "half", "double", "items", "keys", "values", "cast"),
    )
)
"""Calls that give back what they were given, in another dress: without them most programs do the same."""
_TRUTHS = frozenset({"isinstance", "issubclass", "hasattr", "callable", "any", "all", "bool", "is_available", "exists"})
_BOTH_SIDES = (ast.Mult, ast.BitAnd, ast.BitOr)
Expressions = ast.Call | ast.Name | ast.Attribute | ast.Subscript


def sites(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Site]:
    """Yield every way to disarm one function, in the order of its lines."""
    yield from _Walk(function).body(function.body)


def is_arid(node: ast.AST) -> bool:
    """Return whether a statement only talks, waits or cleans up."""
    if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return True
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Await):
        call = call.value
    if not isinstance(call, ast.Call):
        return False
    names = _dotted(call.func)
    says = any(name.lower().strip("_") in _SAYS for name in names)
    return says or (len(names) > 1 and names[-1] in _SPEAKS and names[0] in ("time", "gc", "sys", "self", "asyncio"))


def _dotted(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Attribute):
        return [*_dotted(node.value), node.attr]
    if isinstance(node, ast.Call):
        return _dotted(node.func)
    return [node.id] if isinstance(node, ast.Name) else []


class _Walk:
    """Goes through one function; each method yields the sites of one kind of node and of what is below it."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = function.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        bound = {one.arg for one in every}
        bound |= {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        self.bound = bound - {"self", "cls"}
        self.is_truth = isinstance(function.returns, ast.Name) and function.returns.id == "bool"

    def body(self, statements: list[ast.stmt], *, endless: bool = False) -> Iterator[Site]:
        for place, one in enumerate(statements):
            if not is_arid(one):
                yield from self.statement(statements, place, one, endless=endless)

    def statement(self, held: list[ast.stmt], place: int, one: ast.stmt, *, endless: bool) -> Iterator[Site]:
        skip = ast.copy_location(ast.Pass(), one)
        match one:
            case ast.If():
                if not (all(map(is_arid, one.body)) and not one.orelse) and "TYPE_CHECKING" not in _dotted(one.test):
                    yield from condition(one, "test")
                yield from self.expression(one, "test", asked=True)
                yield from self.body(one.body, endless=endless)
                yield from self.body(one.orelse, endless=endless)
            case ast.While():
                if not isinstance(one.test, ast.Constant):
                    yield in_field("condition-never", one, "test", ast.Constant(False))
                yield from self.expression(one, "test", asked=True)
                yield from self.body(one.body, endless=isinstance(one.test, ast.Constant))
                yield from self.body(one.orelse, endless=endless)
            case ast.For() | ast.AsyncFor():
                if isinstance(one, ast.For):
                    yield in_field("loop", one, "iter", ast.Tuple([], ast.Load()))
                yield from self.expression(one, "iter")
                yield from self.body(one.body)
                yield from self.body(one.orelse, endless=endless)
            case ast.Raise():
                if "NotImplementedError" not in (_dotted(one.exc) if one.exc is not None else []):
                    yield in_list("refusal", held, place, skip)
            case ast.Assert():
                yield in_list("refusal", held, place, skip)
                yield from self.expression(one, "test", asked=True)
            case ast.Return():
                yield from self.returned(one)
            case ast.Expr() | ast.Delete() | ast.AugAssign():
                yield in_list("statement", held, place, skip)
                if not isinstance(one, ast.Delete):
                    yield from self.expression(one, "value")
            case ast.Assign() | ast.AnnAssign():
                yield from self.assigned(held, place, one, skip)
            case ast.Continue():
                yield in_list("jump", held, place, ast.Break())
            case ast.Break():
                if not endless:
                    yield in_list("jump", held, place, ast.Continue())
            case ast.Try() | ast.TryStar():
                yield from self.body(one.body, endless=endless)
                for handler in one.handlers:
                    if not isinstance(handler.body[0], ast.Raise):
                        yield in_body(handler, ast.copy_location(ast.Raise(), handler.body[0]))
                    yield from self.body(handler.body, endless=endless)
                yield from self.body(one.orelse, endless=endless)
                yield from self.body(one.finalbody, endless=endless)
            case ast.With() | ast.AsyncWith():
                yield from self.body(one.body, endless=endless)
            case ast.Match():
                for case in one.cases:
                    if case.guard is not None:
                        yield from condition(case, "guard")
                        yield from self.expression(case, "guard", asked=True)
                    yield from self.body(case.body, endless=endless)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self.body(one.body)
            case _:
                return

    def returned(self, one: ast.Return) -> Iterator[Site]:
        value = one.value
        if value is None or (isinstance(value, ast.Constant) and value.value is None):
            return
        if isinstance(value, ast.Constant) and isinstance(value.value, bool):
            yield in_field("result", one, "value", ast.Constant(not value.value))
        elif self.is_truth or _is_truth(value):
            yield in_field("result", one, "value", ast.Constant(True))
            yield in_field("result", one, "value", ast.Constant(False))
            yield from self.expression(one, "value", asked=True)
        else:
            yield in_field("result", one, "value", ast.Constant(None))
            yield from self.passed_through(one)
            yield from self.expression(one, "value")

    def assigned(
        self, held: list[ast.stmt], place: int, one: ast.Assign | ast.AnnAssign, skip: ast.Pass
    ) -> Iterator[Site]:
        """A name that its own value reads is bound before, so the program goes on without the statement."""
        if one.value is None:
            return
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        read = {node.id for node in ast.walk(one.value) if isinstance(node, ast.Name)}
        is_kept = all(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)
        if is_kept or all(isinstance(target, ast.Name) and target.id in read for target in targets):
            yield in_list("statement", held, place, skip)
        else:
            yield from self.passed_through(one)
        yield from self.expression(one, "value")

    def passed_through(self, one: ast.Return | ast.Assign | ast.AnnAssign) -> Iterator[Site]:
        call = one.value
        if not isinstance(call, ast.Call) or not (names := _dotted(call.func)) or names[-1] in _CONVERTS:
            return
        if isinstance(call.func, ast.Attribute) and names[0] in self.bound:
            yield in_field("unchanged", one, "value", call.func.value)
        elif call.args and isinstance(call.args[0], Expressions) and (_dotted(call.args[0]) or [""])[0] in self.bound:
            yield in_field("unchanged", one, "value", call.args[0])

    def expression(self, parent: ast.AST, field: str, place: int = -1, *, asked: bool = False) -> Iterator[Site]:
        """Yield the sites in an expression; ``asked`` where its truth decides a branch: that is disarmed as a whole."""
        held = getattr(parent, field)
        node = held if place < 0 else held[place]

        def instead(operator: str, becomes: ast.expr) -> Site:
            return in_field(operator, parent, field, becomes) if place < 0 else in_list(operator, held, place, becomes)

        match node:
            case ast.BoolOp():
                for dropped in range(len(node.values)):
                    rest = [value for at, value in enumerate(node.values) if at != dropped]
                    yield instead("operand", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))
                for at in range(len(node.values)):
                    yield from self.expression(node, "values", at, asked=asked)
                return
            case ast.UnaryOp(op=ast.Not() | ast.Invert()):
                if not (asked and isinstance(node.op, ast.Not)):
                    yield instead("negation", node.operand)
                yield from self.expression(node, "operand", asked=asked and isinstance(node.op, ast.Not))
                return
            case ast.Compare():
                for at, op in enumerate(node.ops):
                    if type(op) in _BOUNDARY:
                        yield in_list("boundary", node.ops, at, _BOUNDARY[type(op)](), node)
                    elif type(op) in _OPPOSITE and not asked:
                        yield in_list("negation", node.ops, at, _OPPOSITE[type(op)](), node)
            case ast.IfExp():
                yield from condition(node, "test")
                chooses = _chooses_one_of_two(node)
                tests = self.expression(node, "test", asked=True)
                yield from (site for site in tests if not (chooses and site.operator == "boundary"))
                yield from self.expression(node, "body")
                yield from self.expression(node, "orelse")
                return
            case ast.BinOp() if not (_is_text(node) or _is_flags(node)):
                yield instead("term", node.left)
                if isinstance(node.op, _BOTH_SIDES):
                    yield instead("term", node.right)
            case ast.comprehension():
                for at, test in enumerate(node.ifs):
                    yield in_list("condition-always", node.ifs, at, ast.Constant(True), test)
                    yield from self.expression(node, "ifs", at, asked=True)
                yield from self.expression(node, "iter")
                return
            case ast.JoinedStr() | ast.Lambda() | ast.Constant():
                return
            case ast.Call() if _dotted(node.func)[-1:] in (["isinstance"], ["issubclass"], ["cast"]):
                return
        for name, below in ast.iter_fields(node):
            if isinstance(below, ast.expr | ast.comprehension | ast.keyword):
                yield from self.expression(node, name)
            elif isinstance(below, list):
                for at, one in enumerate(below):
                    if isinstance(one, ast.expr | ast.comprehension | ast.keyword):
                        yield from self.expression(node, name, at)


def _is_truth(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return (_dotted(node.func) or [""])[-1] in _TRUTHS
    if isinstance(node, ast.BoolOp):
        return all(map(_is_truth, node.values))
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _chooses_one_of_two(node: ast.IfExp) -> bool:
    """Return whether an expression is the smaller or the greater of two: where they are equal, either is right."""
    if not isinstance(node.test, ast.Compare) or len(node.test.ops) != 1:
        return False
    compared = {ast.dump(node.test.left), ast.dump(node.test.comparators[0])}
    return compared == {ast.dump(node.body), ast.dump(node.orelse)}


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in (node.left, node.right)
    )


def _is_flags(node: ast.expr) -> bool:
    """Return whether an expression is names in capitals, or-ed: the flags of a call into the system."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and _is_flags(node.left) and _is_flags(node.right)
    return isinstance(node, ast.Attribute) and node.attr.isupper()
