"""The first-party closure of a script, read without running it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from git_world import interpreter

from affidavit.observe import Closure, config_arguments, module_closure, script_closure, search_roots
from affidavit.observe.error import TargetMissingError
from affidavit.observe.interpreter import Interpreter


def tree(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def names(closure: Closure, folder: Path) -> list[str]:
    return [file.path.relative_to(folder).as_posix() for file in closure.files]


def closure_of(folder: Path, script: str = "train.py") -> Closure:
    return script_closure(folder / script, (folder,), interpreter())


def test_imports_are_followed_with_the_packages_on_the_way(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "train.py": "import os, torch\nfrom pkg.deep import leaf\n",
            "pkg/__init__.py": "",
            "pkg/deep/__init__.py": "from . import sibling\n",
            "pkg/deep/leaf.py": "from ..top import K\n",
            "pkg/deep/sibling.py": "",
            "pkg/top.py": "",
            "pkg/unused.py": "",
        },
    )
    closure = closure_of(tmp_path)
    assert names(closure, tmp_path) == [
        "train.py",
        "pkg/__init__.py",
        "pkg/deep/__init__.py",
        "pkg/deep/leaf.py",
        "pkg/deep/sibling.py",
        "pkg/top.py",
    ]
    assert {file.module: file.reason for file in closure.files} == {
        "__main__": "script",
        "pkg": "package of pkg.deep",
        "pkg.deep": "train.py:2",
        "pkg.deep.leaf": "train.py:2",
        "pkg.deep.sibling": "__init__.py:1",
        "pkg.top": "leaf.py:1",
    }


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import a.b\n", ["a/b.py"]),
        ("import a.b as c\n", ["a/b.py"]),
        ("from a import b\n", ["a/b.py"]),
        ("def f():\n    import m\n", ["m.py"]),
        ("try:\n    import gone\nexcept ImportError:\n    import m\n", ["m.py"]),
        ("import importlib\nimportlib.import_module('m')\n", ["m.py"]),
        ("__import__('m')\n", ["m.py"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import m\n", []),
        ("import typing\nif typing.TYPE_CHECKING:\n    import a.b\nelse:\n    import m\n", ["m.py"]),
        ("x = 'import m'\n", []),
        ("import datasets\n", []),
    ],
)
def test_each_form_of_import(tmp_path: Path, source: str, found: list[str]) -> None:
    tree(tmp_path, {"train.py": source, "a/b.py": "", "m.py": "", "datasets/train.json": ""})
    closure = closure_of(tmp_path)
    assert names(closure, tmp_path) == ["train.py", *found]
    assert not closure.dynamic


@pytest.mark.parametrize(
    "source",
    [
        "import importlib\nimportlib.import_module(name)\n",
        "import sys\nsys.path.insert(0, 'lib')\n",
        "import runpy\nrunpy.run_path('m.py')\n",
        "\nexec(open('m.py').read())\n",
        "\nfrom . import m\n",
    ],
)
def test_what_cannot_be_followed_is_listed(tmp_path: Path, source: str) -> None:
    tree(tmp_path, {"train.py": source, "m.py": ""})
    (spot,) = closure_of(tmp_path).dynamic
    assert (spot.path.name, spot.line) == ("train.py", 2)


@pytest.mark.parametrize("source", ["import x\nprint 'two'\n", "import x\0", "import x\n" + "(" * 500])
def test_a_file_that_is_not_our_python_is_not_scanned(tmp_path: Path, source: str) -> None:
    tree(tmp_path, {"train.py": "import broken\n", "broken.py": source})
    closure = closure_of(tmp_path)
    assert names(closure, tmp_path) == ["train.py", "broken.py"]
    assert [spot.path.name for spot in closure.not_scanned] == ["broken.py"]


def test_a_first_party_extension_module_is_found(tmp_path: Path) -> None:
    tree(tmp_path, {"train.py": "import fast\n", "fast.cpython-311-x86_64-linux-gnu.so": ""})
    assert names(closure_of(tmp_path), tmp_path)[1:] == ["fast.cpython-311-x86_64-linux-gnu.so"]


def test_a_cycle_ends(tmp_path: Path) -> None:
    tree(tmp_path, {"train.py": "import a\n", "a.py": "import b\n", "b.py": "import a\n"})
    assert names(closure_of(tmp_path), tmp_path) == ["train.py", "a.py", "b.py"]


def test_a_module_is_run_with_its_packages(tmp_path: Path) -> None:
    tree(tmp_path, {"pkg/__init__.py": "", "pkg/__main__.py": "from . import a\n", "pkg/a.py": ""})
    closure = module_closure("pkg", (tmp_path,), interpreter())
    assert names(closure, tmp_path) == ["pkg/__init__.py", "pkg/__main__.py", "pkg/a.py"]


def test_a_module_outside_the_roots_is_not_scanned(tmp_path: Path) -> None:
    closure = module_closure("torch.distributed.run", (tmp_path,), interpreter())
    assert not closure.files
    assert "installed, or missing" in closure.not_scanned[0].text


def test_a_folder_is_run_by_its_main(tmp_path: Path) -> None:
    tree(tmp_path, {"app/__main__.py": "import a\n", "app/a.py": ""})
    closure = script_closure(tmp_path / "app", (tmp_path / "app",), interpreter())
    assert names(closure, tmp_path) == ["app/__main__.py", "app/a.py"]


def test_a_missing_script(tmp_path: Path) -> None:
    with pytest.raises(TargetMissingError, match=r"expected a Python script \(command line\)"):
        closure_of(tmp_path)


def editable(tmp_path: Path) -> Interpreter:
    site = tmp_path / "site-packages"
    tree(tmp_path, {"one/src/one/__init__.py": "", "two/two/__init__.py": ""})
    tree(
        site,
        {
            "_one.pth": f"import sys\n# note\n{tmp_path / 'one/src'}\n/not/there\n",
            "__editable___two_0_1_finder.py": f"MAPPING: dict[str, str] = {{'two': '{tmp_path / 'two/two'}'}}\n",
        },
    )
    return replace(interpreter(), sites=(site,))


def test_editable_installs_are_first_party(tmp_path: Path) -> None:
    """A `src/` project is on no PYTHONPATH, and its edits run all the same."""
    python = editable(tmp_path)
    tree(tmp_path, {"scripts/train.py": "import one, two\n"})
    roots = search_roots(first=tmp_path / "scripts", python_path="", interpreter=python)
    closure = script_closure(tmp_path / "scripts/train.py", roots, python)
    assert names(closure, tmp_path) == ["scripts/train.py", "one/src/one/__init__.py", "two/two/__init__.py"]


def test_python_path_entries_count_from_the_working_directory(tmp_path: Path) -> None:
    python = replace(interpreter(), sites=())
    roots = search_roots(first=tmp_path, python_path="lib::/abs", interpreter=python, cwd=tmp_path / "work")
    assert roots == (tmp_path, tmp_path / "work/lib", tmp_path / "work", Path("/abs"))


def test_site_packages_is_no_root(tmp_path: Path) -> None:
    python = editable(tmp_path)
    roots = search_roots(first=tmp_path, python_path=str(python.sites[0]), interpreter=python)
    assert python.sites[0] not in roots


def test_configs_named_on_the_command_line(tmp_path: Path) -> None:
    tree(tmp_path, {"a.yaml": "", "b.JSON": "", "c.toml": "", "d.jinja": "", "e.yml": "", "data.txt": ""})
    argv = [
        *("--config", "a.yaml", "--deepspeed=b.JSON", "model.config=c.toml", "@d.jinja", str(tmp_path / "e.yml")),
        *("gone.yaml", "data.txt", "--x=", "a.yaml"),
    ]
    found = config_arguments(argv, tmp_path)
    assert [path.name for path in found] == ["a.yaml", "b.JSON", "c.toml", "d.jinja", "e.yml"]


def test_the_interpreter_says_where_its_packages_are(tmp_path: Path) -> None:
    import sys

    told = Interpreter.of(Path(sys.executable))
    assert set(interpreter().sites) <= set(told.sites)
    assert set(interpreter().stdlib) <= set(told.stdlib)
    assert told.prefix == Path(sys.prefix).resolve()
