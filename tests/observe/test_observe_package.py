"""The package as others see it: stdlib only, twenty names, messages of one form."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from git_world import World

import affidavit.observe
from affidavit.observe import error, git, repository, script_closure, take
from affidavit.observe.interpreter import Interpreter

SOURCE = Path(affidavit.observe.__file__).parents[2]


def outside_the_library(extra: str = "") -> str:
    """Top-level modules that importing the package brings in and that Python does not ship."""
    program = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r}); before = set(sys.modules); {extra}\n"
        "import affidavit.observe\n"
        "names = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(names - sys.stdlib_module_names - {'affidavit'}))"
    )
    ended = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    return ended.stdout.strip()


def test_only_the_standard_library_is_imported() -> None:
    assert outside_the_library() == ""


def test_bend_the_probe_sees_a_foreign_import() -> None:
    assert "pytest" in outside_the_library("import pytest")


def test_the_public_names_are_twenty() -> None:
    assert affidavit.observe.__all__ == sorted(affidavit.observe.__all__)
    assert len(affidavit.observe.__all__) == 20


def test_every_refusal_says_what_it_means_and_what_to_do(world: World, tmp_path: Path) -> None:
    def refuse_commit() -> object:
        return repository.read(world.top, commit="1" * 40)

    python = Interpreter.from_paths(prefix="/x", base_prefix="/x", sites=(), stdlib=())
    causes = [
        lambda: git.ask(world.top, "rev-parse", "--verify", "gone"),
        lambda: git.ask(tmp_path, "status"),
        lambda: repository.read(tmp_path),
        refuse_commit,
        lambda: script_closure(tmp_path / "gone.py", (), python),
        lambda: take(repository.read(world.top), [], "a b"),
        lambda: Interpreter.of(Path("/nowhere/python")),
    ]
    for cause in causes:
        with pytest.raises(error.ObserveError) as raised:
            cause()
        first, second, third = str(raised.value).splitlines()
        assert "expected" in first and ", saw " in first
        assert second.startswith("This means ")
        assert '"' in second
        assert third.startswith("Not affected: ")
