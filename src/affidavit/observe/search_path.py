"""Where the training interpreter would look for first-party modules, without starting it.

A `src/` project installed with `pip install -e` is on no PYTHONPATH: a `.pth` file or a generated finder in
site-packages leads to it, and most people's own code is reached that way.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from affidavit.observe.interpreter import Interpreter


def search_roots(
    *, first: Path, python_path: str, interpreter: Interpreter, cwd: Path | None = None
) -> tuple[Path, ...]:
    """The folders in which first-party modules are looked for, in the order of `sys.path`.

    Args:
        first: `sys.path[0]`: the script's folder, or the working directory for `-m`.
        python_path: the PYTHONPATH that the run will see, "" for none; relative entries count from `cwd`.
        interpreter: whose site folders are read for editable installs.
        cwd: the run's working directory.
    Source: the import system of the Python reference; PEP 660; setuptools' editable finder.
    Blind to: folders that the script appends to `sys.path` itself; .pth lines that run code.
    """
    base = cwd or Path.cwd()
    named = [base / entry if entry else base for entry in python_path.split(os.pathsep)] if python_path else []
    roots = [first, *named, *editable_roots(interpreter)]
    real = (Path(os.path.realpath(root)) for root in roots)
    outside = (root for root in real if not any(root.is_relative_to(site) for site in interpreter.sites))
    return tuple(dict.fromkeys(outside))


def editable_roots(interpreter: Interpreter) -> tuple[Path, ...]:
    """Folders outside site-packages to which an editable install leads."""
    found: list[Path] = []
    for site in interpreter.sites:
        for link in sorted(site.glob("*.pth")):
            found += [site / line for line in _path_lines(link) if (site / line).is_dir()]
        for finder in sorted(site.glob("__editable__*_finder.py")):
            found += [Path(target).parent for target in _mapped(finder)]
    return tuple(dict.fromkeys(found))


def _path_lines(link: Path) -> Iterator[str]:
    if not os.access(link, os.R_OK):
        return  # Python's own `site` passes over it, too
    for line in link.read_bytes().decode("utf-8", "surrogateescape").splitlines():
        entry = line.strip()
        if entry and not entry.startswith(("#", "import ", "import\t")):
            yield entry


def _mapped(finder: Path) -> tuple[str, ...]:
    """The folders in the MAPPING that setuptools writes into its generated finder."""
    try:
        tree = ast.parse(finder.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()  # closed or damaged: nobody can import through it either
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id="MAPPING"), value=ast.Dict() as mapping):
                return _texts(mapping)
            case ast.Assign(targets=[ast.Name(id="MAPPING")], value=ast.Dict() as mapping):
                return _texts(mapping)
    return ()


def _texts(mapping: ast.Dict) -> tuple[str, ...]:
    constants = (value for value in mapping.values if isinstance(value, ast.Constant))
    return tuple(value.value for value in constants if isinstance(value.value, str))
