"""The two halves stay apart at run time too: ours loads without a framework, theirs without us and on Python 3.10.

The import contracts read the source; these ask a fresh interpreter. Neither replaces the other.
"""

from __future__ import annotations

import os
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
INNER = ("fact", "attach", "boot", "adapters", "instruments", "cache")
FRAMEWORKS = ("accelerate", "datasets", "numpy", "pandas", "peft", "torch", "transformers", "trl")
"""Modules that no process of the outer half ever loads."""
OUTER_ONLY = ("click", "msgspec", "rfc8785", "rich")
"""Modules that do not exist in the user's environment."""
REFUSE = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}} here", name=name)

sys.meta_path.insert(0, Refuse())
"""


def _modules(source: Path) -> Iterator[str]:
    """Yield every module of the package but those that are programs: the demo's scripts, the shadow, ``__main__``."""
    package = source / "affidavit"
    for found in pkgutil.walk_packages([str(package)], "affidavit."):
        programs = ("affidavit.demo.scripts", "affidavit.attach.site", "affidavit.cli.__main__")
        if not found.name.startswith(programs):
            yield found.name


def _is_inner(module: str) -> bool:
    return module.split(".")[1] in INNER


def _python(code: str, *, executable: str = sys.executable, source: Path = SOURCE) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [executable, "-W", "error", "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def _importing(modules: list[str]) -> str:
    return "import importlib, sys\n" + "".join(f"importlib.import_module({name!r})\n" for name in modules)


def _frameworks_loaded_by(modules: list[str], source: Path = SOURCE) -> list[str]:
    ended = _python(_importing(modules) + f"print(*sorted(set({FRAMEWORKS!r}) & set(sys.modules)))", source=source)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


def test_the_outer_half_loads_no_framework() -> None:
    outer = [name for name in _modules(SOURCE) if not _is_inner(name)]
    assert len(outer) > 30, outer
    assert _frameworks_loaded_by(outer) == []


def test_a_framework_in_the_outer_half_is_seen(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "src/affidavit/case.py").open("a") as file:
        file.write("import numpy\n")
    assert _frameworks_loaded_by(["affidavit.case"], tmp_path / "src") == ["numpy"]


def _bare(modules: list[str], *, executable: str = sys.executable, source: Path = SOURCE) -> str:
    """Return what went wrong when these modules were loaded where nothing but the standard library exists."""
    refused = (*FRAMEWORKS, *OUTER_ONLY)
    ended = _python(REFUSE.format(refused=refused) + _importing(modules), executable=executable, source=source)
    return "" if ended.returncode == 0 else ended.stderr


INNER_MODULES = [
    name
    for name in _modules(SOURCE)
    if _is_inner(name) and not name.startswith("affidavit.adapters.")  # loaded only where their framework is
]


def test_the_inner_half_loads_on_the_standard_library_alone() -> None:
    assert len(INNER_MODULES) > 20, INNER_MODULES
    assert _bare(INNER_MODULES) == ""


def test_a_dependency_in_the_inner_half_is_seen(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "src/affidavit/attach/launch.py").open("a") as file:
        file.write("import msgspec\n")
    assert "No module named 'msgspec' here" in _bare(["affidavit.boot"], source=tmp_path / "src")


def _oldest_python() -> str:
    """Return a working Python 3.10: on PATH, or beside this interpreter where several are kept."""
    beside = Path(sys.base_prefix).parent.glob("*/bin/python3.10")
    for candidate in (shutil.which("python3.10"), *map(str, beside)):
        if candidate and subprocess.run([candidate, "--version"], capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.skip("no Python 3.10 here; mypy reads the inner half as 3.10 in `make check`")


def test_the_inner_half_loads_on_python_3_10() -> None:
    oldest = _oldest_python()
    assert _bare(INNER_MODULES, executable=oldest) == ""
    compiled = _python(
        "import ast, pathlib, sys\n"
        f"for path in pathlib.Path({str(SOURCE / 'affidavit/adapters')!r}).glob('*.py'): ast.parse(path.read_text())",
        executable=oldest,
    )
    assert compiled.returncode == 0, compiled.stderr
