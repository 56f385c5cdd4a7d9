"""Files that a build makes and nobody commits: they hold a version and cannot hold anything else."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"_*version_*\.py|_version_info\.py")
_SIZE_BYTES: Final = 1 << 14


def is_version_file(path: Path) -> bool:
    """Whether a module that is named for a version gives names to constants, and does nothing else.

    An editable install makes one at each build (setuptools-scm, hatch-vcs, flit), git is told to ignore it, and every
    import of the package reads it. A file that could do anything else is judged like any other.

    Source: the templates of setuptools-scm 7 to 10 and hatch-vcs.
    Blind to: a hyperparameter that somebody calls a version.
    """
    try:
        if not _NAME.fullmatch(path.name) or path.stat().st_size > _SIZE_BYTES:
            return False
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return False  # gone, or no Python: it keeps the heavier name
    return bool(tree.body) and all(map(_is_plain, tree.body))


def _is_plain(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return all(isinstance(target, ast.Name) for target in targets) and (value is None or _is_constant(value))
        case ast.ImportFrom(module="__future__" | "typing"):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=orelse):
            return all(map(_is_plain, (*body, *orelse)))
    return False


def _is_constant(node: ast.expr) -> bool:
    """Whether an expression calls nothing and computes nothing."""
    made = (ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Subscript, ast.BinOp, ast.BitOr, ast.Load)
    return all(isinstance(part, made) for part in ast.walk(node))
