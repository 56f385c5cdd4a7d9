"""What a Python script gives to a shell, and the gates that it starts."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from affidavit.lint.gates.source import Ignored, Source, Started

_STARTS: Final = frozenset(
    {
        *("run", "call", "Popen", "check_call", "check_output"),
        *("getoutput", "getstatusoutput", "system", "popen"),
    }
)


def python(path: Path, text: str) -> Iterator[Source]:
    """Yield what a Python script gives to a shell, and the gates that it starts.

    Raises:
        SyntaxError, ValueError, RecursionError: it is no Python.
    Blind to: commands that are put together at run time.
    """
    if not any(name in text for name in ("subprocess", "os.system", "os.popen", "from os import")):
        return
    tree = ast.parse(text)
    unused = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    imported = {
        one.asname or one.name: f"{node.module}.{one.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("subprocess", "os")
        for one in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            yield from _call(path, node, imported, is_unused=id(node) in unused)


def _call(path: Path, node: ast.Call, imported: dict[str, str], *, is_unused: bool) -> Iterator[Source]:
    name = ast.unparse(node.func) if isinstance(node.func, ast.Attribute | ast.Name) else ""
    module, _, short = name.rpartition(".")
    if not module:
        module, _, short = imported.get(short, "").rpartition(".")
    if module not in ("subprocess", "os", "sp") or short not in _STARTS:
        return
    options = {keyword.arg: keyword.value for keyword in node.keywords}
    is_shell = short in ("getoutput", "getstatusoutput", "system", "popen") or _is_true(options.get("shell"))
    is_free = short in ("run", "call", "system") and not _is_true(options.get("check"))
    is_free = is_free and None not in options and (options.get("check") is None or not _is_true(options["check"]))
    command = _text(node.args[0])
    if command is None:
        return
    yield Source(
        path=path,
        text=command,
        first=node.lineno - 1,
        where="python",
        started=Started.SH if is_shell else Started.FILE,
        ignored=Ignored.PYTHON if is_unused and is_free else Ignored.NOBODY,
    )


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(one.value if isinstance(one, ast.Constant) else "GIVEN" for one in node.values)  # type: ignore[misc]
    if isinstance(node, ast.List | ast.Tuple) and node.elts:
        words = [_text(one) if isinstance(one, ast.Constant | ast.JoinedStr) else _name(one) for one in node.elts]
        return " ".join(shlex.quote(word or "given") if word != "python" else word for word in words)
    return None


def _name(node: ast.expr) -> str:
    return "python" if ast.unparse(node) == "sys.executable" else "given"
