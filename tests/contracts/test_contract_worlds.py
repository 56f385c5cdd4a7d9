"""Each world says in its first line what happens in it, and the page about them names none that is not there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORLD = ROOT / "tests/world"
DEMO = ROOT / "src/affidavit/demo/scripts"
SCRIPTS = sorted(path for path in WORLD.glob("*/*.py") if path.parent.name != "__pycache__")


def _missing(page: str) -> list[str]:
    """Return the scripts that rows of the page name and that do not exist; ``clean*.py`` names all of its kind."""
    missing = []
    for row in re.findall(r"^\| ((?:demo )?`[^|]+\.py`[^|]*)\|", page, re.MULTILINE):
        folder = DEMO if row.startswith("demo ") else WORLD
        for name in re.findall(r"`([^`]+)`", row):
            world, _, script = name.rpartition("/")
            folder = WORLD / world if world else folder
            if not list(folder.glob(script)):
                missing.append(str((folder / script).relative_to(ROOT)))
    return missing


def _speaks(first: str) -> bool:
    return re.fullmatch(r'"""[A-Z].{20,}', first) is not None


def test_the_first_line_says_what_happens() -> None:
    firsts = {str(script.relative_to(ROOT)): script.read_text().partition("\n")[0] for script in SCRIPTS}
    assert firsts
    assert {path: first for path, first in firsts.items() if not _speaks(first)} == {}
    assert not _speaks("import torch") and not _speaks('"""Fault."""')


def test_the_page_names_no_world_that_is_not_there() -> None:
    page = (WORLD / "README.md").read_text()
    assert _missing(page) == []
    planted = "| `plain_loop/fault.py`, `clean_gone.py` | x | y |\n| demo `gone.py` | x | y |\n"
    assert _missing(planted) == ["tests/world/plain_loop/clean_gone.py", "src/affidavit/demo/scripts/gone.py"]
