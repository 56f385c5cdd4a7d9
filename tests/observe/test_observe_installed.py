"""What was installed is held against its RECORD: real wheels, real pip, and one edited line."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import click
import msgspec
import pytest
from git_world import World, interpreter
from installing import beside, hashed, new_environment, one, pip, wheel

from affidavit.observe import digest, distribution
from affidavit.observe.code import identify
from affidavit.observe.identity import LoadedFile
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.owner import OwnerKind
from affidavit.observe.verdict import FileVerdict

FILES = {"alib/__init__.py": "K = 1\n", "alib/loss.py": "def loss(x):\n    return x\n"}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Interpreter]:
    """A virtual environment with one package, and its site folder."""
    folder = tmp_path_factory.mktemp("installed")
    python, told = new_environment(folder / "venv")
    pip(str(wheel(folder, "alib", FILES)), python=python)
    (site,) = [place for place in told.sites if (place / "alib").is_dir()]
    return site, told


@pytest.fixture
def installed(pristine: tuple[Path, Interpreter], monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Interpreter]:
    """The same, with what was installed in it, and nothing of it read before."""
    site, _ = pristine
    monkeypatch.setattr(digest, "_known", {})
    for path, text in FILES.items():
        (site / path).write_text(text)
    return pristine


def test_a_line_edited_in_site_packages_differs_from_its_record(installed: tuple[Path, Interpreter]) -> None:
    site, python = installed
    assert one(site / "alib/loss.py", python).verdict is FileVerdict.INSTALLED
    (site / "alib/loss.py").write_text("def loss(x):\n    return -x\n")
    found = one(site / "alib/loss.py", python)
    assert (found.verdict, str(found.owner)) == (FileVerdict.DIFFERS_FROM_RECORD, "alib 1.2")
    assert one(site / "alib/__init__.py", python).verdict is FileVerdict.INSTALLED


def test_a_record_that_nobody_reads_lets_the_edit_pass(
    installed: tuple[Path, Interpreter], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bend: that a distribution lists a file says nothing of its bytes."""
    site, python = installed
    monkeypatch.setattr(distribution.Site, "digests", lambda *_: ())
    (site / "alib/loss.py").write_text("def loss(x):\n    return -x\n")
    assert one(site / "alib/loss.py", python).verdict is FileVerdict.INSTALLED


def test_an_edit_of_the_same_size_and_time_is_seen_by_who_has_read_the_file_before(
    installed: tuple[Path, Interpreter], monkeypatch: pytest.MonkeyPatch
) -> None:
    site, python = installed
    path = site / "alib/loss.py"
    monkeypatch.setattr(digest, "_SETTLED_NS", 0)
    status = path.stat()
    assert one(path, python).verdict is FileVerdict.INSTALLED
    time.sleep(0.02)  # the clock of a file system ticks in steps of some milliseconds
    path.write_text("def loss(x):\n    return y\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert one(path, python).verdict is FileVerdict.DIFFERS_FROM_RECORD


def test_a_file_that_nobody_touched_is_read_once(
    installed: tuple[Path, Interpreter], monkeypatch: pytest.MonkeyPatch
) -> None:
    site, python = installed
    monkeypatch.setattr(digest, "_SETTLED_NS", 0)
    time.sleep(0.02)
    assert one(site / "alib/loss.py", python).verdict is FileVerdict.INSTALLED
    monkeypatch.setattr(digest.hashlib, "file_digest", lambda *_: pytest.fail("read again"))
    assert one(site / "alib/loss.py", python).verdict is FileVerdict.INSTALLED


def test_a_file_that_may_still_change_under_its_time_stamp_is_read_again(
    installed: tuple[Path, Interpreter],
) -> None:
    site, python = installed
    one(site / "alib/loss.py", python)
    assert str(site / "alib/loss.py") not in digest._known


def test_a_package_that_changes_after_it_was_loaded_does_not_accuse_the_run(
    installed: tuple[Path, Interpreter],
) -> None:
    """A colleague edits, or upgrades, what they share while a run goes on for days."""
    site, python = installed
    path = site / "alib/loss.py"
    status = path.stat()
    loaded = LoadedFile(path=path, seen=f"{status.st_size} {status.st_mtime_ns}")
    assert not identify([loaded], python).files[0].has_changed
    path.write_text("def loss(x):\n    return -x\n")
    (found,) = identify([loaded], python).files
    assert (found.verdict, found.has_changed) == (FileVerdict.INSTALLED, True)
    status = path.stat()
    before = LoadedFile(path=path, seen=f"{status.st_size} {status.st_mtime_ns}")
    assert identify([before], python).files[0].verdict is FileVerdict.DIFFERS_FROM_RECORD


def test_code_installed_into_a_folder_of_its_own_is_installed(world: World, tmp_path: Path) -> None:
    """Ignored by git, inside the project, on PYTHONPATH: described by its wheel until somebody edits it."""
    pip("--target", str(world.top / "libs"), str(wheel(tmp_path, "alib", FILES)))
    world.write(".gitignore", "libs/\n")
    world.commit()
    path = world.top / "libs/alib/loss.py"
    found = one(path)
    assert (found.verdict, str(found.owner)) == (FileVerdict.INSTALLED, "alib 1.2")
    loaded = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_text("edited after it was loaded\n")
    assert one(path, sha256=loaded).verdict is FileVerdict.INSTALLED
    assert one(path).verdict is FileVerdict.DIFFERS_FROM_RECORD
    (world.top / "libs/alib/mine.py").write_text("")
    assert one(world.top / "libs/alib/mine.py").verdict is FileVerdict.NOT_IN_COMMIT


def test_vendored_and_committed_is_the_commits(world: World, tmp_path: Path) -> None:
    pip("--target", str(world.top / "vendor"), str(wheel(tmp_path, "alib", FILES)))
    world.write("vendor/alib/loss.py", "patched, and committed\n")
    world.commit()
    assert one(world.top / "vendor/alib/loss.py").verdict is FileVerdict.COMMITTED


def site_of(tmp_path: Path, *, record: str, installer: str = "pip", text: str = "edited\n") -> tuple[Path, Interpreter]:
    site = tmp_path / "venv/lib/python3.11/site-packages"
    (site / "b").mkdir(parents=True)
    (site / "b/x.py").write_text(text)
    metadata = site / "b-1.dist-info"
    metadata.mkdir()
    (metadata / "RECORD").write_text(record)
    if installer:
        (metadata / "INSTALLER").write_text(f"{installer}\n")
    return site / "b/x.py", beside(site)


EMPTY = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"


@pytest.mark.parametrize(
    ("record", "installer"),
    [
        ("b/x.py,,\n", "pip"),
        (f"b/x.py,sha256={EMPTY},0\n", "conda"),
        (f"b/x.py,sha256={EMPTY},0\n", ""),
        ("b/x.py,md5=1B2M2Y8AsgTpgAmy7PhCfg,0\n", "pip"),
        ("b/x.py,sha256=!!!,0\n", "pip"),
        ("b/x.py,sha256=AAAA,0\n", "pip"),
        (f"b/x.py,sha256={EMPTY},0\nb/x.py,,\n", "pip"),
    ],
)
def test_where_no_record_says_what_the_bytes_were_nobody_is_accused(
    tmp_path: Path, record: str, installer: str
) -> None:
    path, python = site_of(tmp_path, record=record, installer=installer)
    found = one(path, python)
    assert (found.verdict, found.owner.digests) == (FileVerdict.INSTALLED, ())


@pytest.mark.parametrize("record", [f"b/x.py,sha256={EMPTY},0\n", f'"b/x.py",sha256={EMPTY},0\n'])
def test_a_record_that_says_it_is_believed(tmp_path: Path, record: str) -> None:
    path, python = site_of(tmp_path, record=record)
    assert one(path, python).verdict is FileVerdict.DIFFERS_FROM_RECORD
    path.write_text("")
    assert one(path, python).verdict is FileVerdict.INSTALLED


@pytest.mark.parametrize("installer", ["conda", ""])
def test_a_package_is_accused_where_its_installer_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    """The bend: conda writes its prefix into files after RECORD was made, and Debian strips libraries."""
    monkeypatch.setattr(distribution, "REWRITING", frozenset())
    path, python = site_of(tmp_path, record=f"b/x.py,sha256={EMPTY},0\n", installer=installer)
    assert one(path, python).verdict is FileVerdict.DIFFERS_FROM_RECORD


def test_two_distributions_that_list_one_file_answer_for_it_together(tmp_path: Path) -> None:
    """As the two builds of one library, or a namespace's ``__init__.py``: who came last wrote it."""
    path, python = site_of(tmp_path, record=f"b/x.py,sha256={EMPTY},0\n", text="later")
    other = path.parents[1] / "c-1.dist-info"
    other.mkdir()
    (other / "INSTALLER").write_text("uv")
    (other / "RECORD").write_text(f"b/x.py,sha256={hashed('never installed')},6\n")
    assert one(path, python).verdict is FileVerdict.DIFFERS_FROM_RECORD
    (other / "RECORD").write_text(f"b/x.py,sha256={hashed('later')},6\n")
    assert one(path, python).verdict is FileVerdict.INSTALLED


def test_an_installer_that_links_into_its_cache(tmp_path: Path) -> None:
    """``uv pip install --link-mode symlink``: the file of the site folder is a link, its bytes lie elsewhere."""
    path, python = site_of(tmp_path, record=f"b/x.py,sha256={EMPTY},0\n", text="")
    cache = tmp_path / "cache/x.py"
    cache.parent.mkdir()
    path.rename(cache)
    path.symlink_to(cache)
    assert (one(path, python).verdict, one(path, python).owner.name) == (FileVerdict.INSTALLED, "b")
    cache.write_text("edited for every environment at once\n")
    assert one(path, python).verdict is FileVerdict.DIFFERS_FROM_RECORD


def test_a_file_that_was_uninstalled_meanwhile_accuses_nobody(tmp_path: Path) -> None:
    path, python = site_of(tmp_path, record=f"b/x.py,sha256={EMPTY},0\n")
    path.unlink()
    assert one(path, python).verdict is FileVerdict.UNREADABLE


def test_the_whole_environment_of_the_tests_is_as_installed() -> None:
    """The clean twin: every package that this process has imported."""
    paths = [Path(module.__file__) for module in list(sys.modules.values()) if getattr(module, "__file__", None)]
    held = [path for path in paths if "site-packages" in path.parts and path.is_file()]
    code = identify([LoadedFile(path=path) for path in held], interpreter())
    assert {Path(click.__file__), Path(msgspec.__file__)} <= set(held)
    edited = [file.path for file in code.files if file.verdict is FileVerdict.DIFFERS_FROM_RECORD]
    assert edited == []
    assert sum(bool(file.owner.digests) for file in code.files) > 100


BACKENDS = {
    "hatchling": '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n',
    "hatchling exact": '[build-system]\nrequires = ["hatchling", "editables"]\nbuild-backend = "hatchling.build"\n'
    "[tool.hatch.build]\ndev-mode-exact = true\n",
    "setuptools": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n',
    "setuptools strict": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n',
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_editable_install_is_judged_by_the_repository_behind_it(world: World, tmp_path: Path, backend: str) -> None:
    """By a path in a .pth, a finder, or a tree of links: what the interpreter loads is asked, not how it is found."""
    project = '[project]\nname = "elib"\nversion = "3"\n'
    world.write("pyproject.toml", project + BACKENDS[backend])
    world.write("src/elib/__init__.py", "K = 1\n")
    world.write(".gitignore", "build/\n*.egg-info/\n__pycache__/\n")
    commit = world.commit()
    python, told = new_environment(tmp_path / "venv")
    strict = ("--config-settings", "editable_mode=strict") if backend.endswith("strict") else ()
    pip("-e", str(world.top), *strict, python=python)
    loaded = Path(_asked(python, "import elib; print(elib.__file__)"))
    clean = one(loaded, told)
    assert (clean.verdict, clean.owner.kind, clean.owner.version) == (
        FileVerdict.COMMITTED,
        OwnerKind.REPOSITORY,
        commit,
    )
    world.write("src/elib/__init__.py", "K = 2\n")
    assert one(loaded, told).verdict is FileVerdict.MODIFIED


def _asked(python: Path, program: str) -> str:
    """What a program says; the finder of an exact editable install needs a package at run time."""
    environment = {**os.environ, "PYTHONPATH": sysconfig.get_paths()["purelib"]}
    command = [python, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()
