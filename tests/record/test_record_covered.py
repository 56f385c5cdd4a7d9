"""The digest of a function moves when the function does, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.record import covered
from affidavit.record.covered import CHANGED, GONE, Covered, CoveredError, cover, digest_of

CODE = '''
"""A module."""
import os

TABLE = {"a": 1, **os.environ}


def build(rows, *, size=(1, 2), **more):
    """Build it."""
    # why
    total = 0
    for row in rows:
        total += row["a"] if row else 1
    return f"{total!r:>{size[0]}}", more


class Cache:
    @property
    def key(self):
        return 1

    @key.setter
    def key(self, value):
        self.value = value


if os.name == "posix":
    def place(): return "here"
else:
    def place(): return "there"
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src/pkg/inner").mkdir(parents=True)
    (tmp_path / "src/pkg/encode.py").write_text(CODE)
    (tmp_path / "src/pkg/inner/__init__.py").write_text("def f():\n    def g():\n        return 1\n    return g\n")
    (tmp_path / "recipe.yaml").write_text("rows: 1\n")
    return tmp_path


def altered(project: Path, old: str, new: str) -> None:
    assert old in CODE
    (project / "src/pkg/encode.py").write_text(CODE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# why", "# another reason"),
        ('    """Build it."""\n', ""),
        ('row["a"] if row else 1', "(row['a']\n            if row else 1)"),
        ("size=(1, 2), **more", "size=(\n        1,\n        2,\n    ),\n    **more,\n"),
        ('"""A module."""', ""),
        ("return 1", "return 2"),
        ("import os", "import os, sys"),
    ],
    ids=["comment", "docstring", "quotes", "commas", "module docstring", "neighbour", "import"],
)
def test_what_does_not_touch_a_function_does_not_move_it(project: Path, old: str, new: str) -> None:
    before = digest_of("pkg.encode:build", project)
    altered(project, old, new)
    assert digest_of("pkg.encode:build", project) == before


@pytest.mark.parametrize(
    ("target", "old", "new"),
    [
        ("pkg.encode:build", "total = 0", "total = 1"),
        ("pkg.encode:build", "size=(1, 2)", "size=(1, 3)"),
        ("pkg.encode:build", "!r:>", "!s:>"),
        ("pkg.encode:TABLE", '"a": 1', '"a": 2'),
        ("pkg.encode:TABLE", ", **os.environ", ', "b": os.environ'),
        ("pkg.encode:Cache", "return 1", "return None"),
        ("pkg.encode:Cache.key", "self.value = value", "self.value = 1"),
        ("pkg.encode:place", '"there"', '"elsewhere"'),
        ("src/pkg/encode.py", "import os", "import os, sys"),
    ],
)
def test_what_touches_it_moves_it(project: Path, target: str, old: str, new: str) -> None:
    before = digest_of(target, project)
    altered(project, old, new)
    assert digest_of(target, project) != before


def test_code_is_known_by_its_path_whatever_it_was_called(project: Path) -> None:
    by_module, by_path = cover("pkg.encode:build", project), cover("src/pkg/encode.py:build", project)
    assert by_module == by_path == Covered(target="src/pkg/encode.py:build", digest=by_path.digest)
    assert cover("pkg.inner:f.<locals>.g", project).target == "src/pkg/inner/__init__.py:f.g"
    assert cover("recipe.yaml", project).target == "recipe.yaml"


def test_a_digest_is_the_same_on_every_version_of_python(project: Path) -> None:
    assert (
        digest_of("pkg.encode:build", project)
        == "sha256:9defc7c46dbf2c1941eaf960b9b1d84cb293f11478d752efca51d441555100bf"
    )
    (project / "signs.py").write_text('SIGNS = "é\U0001fae8"\n')  # the last is of Unicode 15
    assert (
        digest_of("signs.py:SIGNS", project)
        == "sha256:961eff742de4c77bccef8b6d8a67fa73c652fd1dad0f7b3a7e2774bb3dd5e3cd"
    )
    assert (
        digest_of("src/pkg/encode.py", project)
        == "sha256:5cd106ee9026302b406d76e39c2a0b9c6324af6d1d7f6ea825de35b81c60f92d"
    )


@pytest.mark.guards("affidavit.record.covered:moved", property="code that changed since is told")
def test_what_moved_is_told_apart_from_what_is_gone(project: Path) -> None:
    code = {one.target: one.digest for one in (cover(name, project) for name in ("pkg.encode:build", "recipe.yaml"))}
    assert covered.moved(code, project) == ()
    (project / "recipe.yaml").write_text("rows: 2\n")
    (project / "src/pkg/encode.py").unlink()
    found = covered.moved(code, project)
    assert [(one.target, one.how) for one in found] == [("recipe.yaml", CHANGED), ("src/pkg/encode.py:build", GONE)]
    assert "no file" in found[1].why and "\n" not in found[1].why


@pytest.mark.parametrize(
    ("target", "saw"),
    [
        ("names.py:rebuid", "saw no 'rebuid', but rebuild in names.py"),
        ("names.py:key", "saw no 'key', but Cache.key in names.py"),
        ("names.py:nothing", "saw no 'nothing' in names.py"),
        ("names.py:build", "saw only an import of 'build' in names.py"),
        ("broken.py:f", r"saw no Python \(SyntaxError, line 2\)"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(project: Path, target: str, saw: str) -> None:
    (project / "broken.py").write_text("\ndef f(:\n")
    (project / "names.py").write_text(
        "from pkg.encode import build\nif build:\n    def rebuild(): ...\nclass Cache:\n    def key(self): ...\n"
    )
    with pytest.raises(CoveredError, match=saw):
        cover(target, project)


def test_names_that_are_bound_together_are_found(project: Path) -> None:
    for value in (1, 2):
        (project / "pair.py").write_text(f"first, (second, *rest) = {value}, (2, 3)\nrest[0] = first.x = 7\n")
        found = [digest_of(f"pair.py:{name}", project) for name in ("first", "second", "rest")]
        assert len(set(found)) == 1, "of what is bound together the statement is digested"
    with pytest.raises(CoveredError):
        cover("pair.py:x", project)


@pytest.mark.parametrize(
    "target",
    ["", ":", "pkg.encode:", "pkg.encode:nothing", "pkg.encode:Cache.", "gone.py", "/etc/passwd", "../out.py", "src",
     "recipe.yaml:build", "a\0b", "x" * 5000, "broken.py:f", "bytes.py:f", "deep.py:f"],
)  # fmt: skip
def test_what_cannot_be_covered_is_refused(project: Path, target: str) -> None:
    (project.parent / "out.py").write_text("x = 1\n")
    (project / "broken.py").write_text("def f(:\n")
    (project / "bytes.py").write_bytes(b"\xff\0def f(): pass\n")
    (project / "deep.py").write_text("def f(): return " + "-" * 5000 + "1\n")
    with pytest.raises(CoveredError, match="Not affected"):
        cover(target, project)
