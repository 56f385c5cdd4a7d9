"""The listing of files and the finder, driven directly: what is heard, and that nothing is changed by hearing it."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from affidavit.attach import early

PACKAGE = str(Path(early.__file__).parents[1])


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _heard(listing: early.Listing, path: Path) -> None:
    listing.hook("exec", (compile("", str(path), "exec"),))


def test_code_has_the_digest_of_what_ran(tmp_path: Path) -> None:
    listing = early.Listing(PACKAGE)
    module = tmp_path / "module.py"
    module.write_text("a = 1")
    _heard(listing, module)
    module.write_text("a = 2")
    _heard(listing, module)
    assert listing.digests == {str(module): _sha256("a = 1")}


def test_installed_files_and_our_own_have_no_digest(tmp_path: Path) -> None:
    listing = early.Listing(PACKAGE)
    installed = tmp_path / "site-packages" / "them.py"
    _heard(listing, installed)
    _heard(listing, Path(PACKAGE) / "boot.py")
    assert (listing.digests, list(listing.elsewhere)) == ({}, [str(installed)])


@pytest.mark.parametrize("as_kind", [str, lambda path: str(path).encode(), lambda path: path])
def test_a_config_is_heard_however_its_path_is_spelt(tmp_path: Path, as_kind: type) -> None:
    listing = early.Listing(PACKAGE)
    config = tmp_path / "run.yaml"
    config.write_text("rate: 1")
    listing.hook("open", (as_kind(config), "r", 0))
    listing.hook("open", (as_kind(tmp_path / "run.bin"), "r", 0))
    listing.hook("open", (as_kind(config.with_name("new.yaml")), "w", 1))
    listing.hook("open", (3, "r", 0))
    assert listing.configs == {str(config): _sha256("rate: 1")}


def test_a_large_or_odd_config_is_not_read(tmp_path: Path) -> None:
    listing = early.Listing(PACKAGE)
    data = tmp_path / "data.json"
    data.write_bytes(b"0" * (early.CONFIG_BYTES + 1))
    for path in (data, tmp_path / "missing.json", tmp_path, "nul\0.json"):
        listing.hook("open", (str(path), "r", 0))
    assert listing.configs == {}
    assert listing.missed == 0


def test_an_error_in_the_listing_is_counted_and_never_raised() -> None:
    listing = early.Listing(PACKAGE)
    listing.hook("exec", ())
    assert listing.missed == 1
    listing.close()
    listing.hook("exec", ())
    assert listing.missed == 1


def test_threads_that_load_at_once_are_all_heard(tmp_path: Path) -> None:
    """A flag that all threads share once made one of them deaf while another read a file."""
    listing = early.Listing(PACKAGE)
    paths = [tmp_path / f"module{number}.py" for number in range(200)]
    for path in paths:
        path.write_text(path.name * 1000)
    threads = [threading.Thread(target=lambda: [_heard(listing, path) for path in paths]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert listing.digests == {str(path): _sha256(path.name * 1000) for path in paths}


def test_data_is_listed_by_what_was_done_with_it(tmp_path: Path) -> None:
    listing = early.Listing(PACKAGE)
    entry, part, raw = tmp_path / "rows.jsonl", tmp_path / "rows.part", tmp_path / "raw.npy"
    raw.write_bytes(b"abc")
    listing.hook("open", (str(raw), "r", 0))
    listing.hook("open", (str(part), "w", 1))
    part.write_text("{}")
    listing.hook("os.rename", (str(part), str(entry), -1, -1))
    part.replace(entry)
    listing.hook("open", (str(entry), "r", 0))  # its own work is nobody else's
    listing.hook("open", (str(tmp_path / "missing.npy"), "r", 0))
    listing.hook("open", (str(tmp_path / "site-packages" / "a.npy"), "r", 0))
    assert list(listing.read) == [str(raw)]
    assert listing.read[str(raw)] == (3, raw.stat().st_mtime)
    assert list(listing.written) == [str(entry)]
    assert listing.missed == 0


def test_a_run_over_a_million_files_is_not_followed_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early, "MOST_DATA", 2)
    listing = early.Listing(PACKAGE)
    for number in range(5):
        (tmp_path / f"{number}.npy").write_bytes(b"")
        listing.hook("open", (str(tmp_path / f"{number}.npy"), "r", 0))
        listing.hook("open", (str(tmp_path / f"{number}.out"), "w", 1))
    assert (len(listing.read), len(listing.written)) == (2, 2)


class Lazy(ModuleType):
    """A module that imports when it is first looked at."""

    looked = False

    def __getattribute__(self, name: str) -> object:
        type(self).looked = True
        raise ImportError("nobody may look at me")


def test_a_lazy_module_stays_asleep(tmp_path: Path) -> None:
    listing = early.Listing(PACKAGE)
    there = ModuleType("there")
    there.__file__ = str(tmp_path / "there.py")
    listing.add_modules({"lazy": Lazy("lazy"), "there": there, "nothing": None, "odd": object()})
    assert list(listing.digests) == [there.__file__]
    assert not Lazy.looked


# --- the finder -------------------------------------------------------------------------------------------------


@pytest.fixture
def finder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[early.Finder]:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "framework.py").write_text("value = []\ndef function():\n    return 1\n")
    (tmp_path / "broken_framework.py").write_text("1 / 0\n")
    found = early.Finder(PACKAGE)
    monkeypatch.setattr(sys, "meta_path", [found, *sys.meta_path])
    yield found
    for name in ("framework", "broken_framework"):
        sys.modules.pop(name, None)


def test_a_module_is_bound_after_it_ran_and_looks_untouched(finder: early.Finder) -> None:
    seen: list[object] = []
    finder.expect("framework", lambda module: seen.append(module.function()))
    assert importlib.util.find_spec("framework") is not None
    assert seen == []
    module = importlib.import_module("framework")
    assert seen == [1]
    spec = module.__spec__
    assert spec is not None and type(spec.loader).__name__ == "SourceFileLoader"
    assert "exec_module" not in vars(spec.loader)
    assert "return 1" in inspect.getsource(module.function)


def test_a_module_that_is_there_already_is_bound_at_once_and_again_when_it_is_reloaded(finder: early.Finder) -> None:
    seen: list[object] = []
    module = importlib.import_module("framework")
    finder.expect("framework", lambda module: seen.append(module.value))
    assert len(seen) == 1
    importlib.reload(module)
    assert len(seen) == 2
    assert seen[0] is not seen[1]


def test_a_module_that_fails_fails_as_before(finder: early.Finder) -> None:
    seen: list[object] = []
    finder.expect("broken_framework", seen.append)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            importlib.import_module("broken_framework")
    assert "broken_framework" not in sys.modules
    assert seen == []


def test_what_is_nowhere_is_not_found(finder: early.Finder) -> None:
    finder.expect("no_such_framework", lambda module: None)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_framework")


class Sealed:
    """A loader without a place for anything of ours."""

    __slots__ = ()

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.value = 1  # type: ignore[attr-defined]


def test_a_loader_that_lets_nobody_wait_is_written_down(
    finder: early.Finder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Theirs:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> object:
            return importlib.util.spec_from_loader(name, Sealed()) if name == "framework" else None  # type: ignore[arg-type]

    sys.meta_path.append(Theirs)  # type: ignore[arg-type]
    sys.meta_path.insert(1, sys.meta_path.pop())
    monkeypatch.setenv("AFFIDAVIT_LAUNCH", str(tmp_path / "launch.0.json"))
    seen: list[object] = []
    finder.expect("framework", seen.append)
    assert importlib.import_module("framework").value == 1
    assert seen == []
    assert "Sealed" in (tmp_path / "hello.refused").read_text()


def test_what_cannot_be_written_down_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AFFIDAVIT_LAUNCH", str(tmp_path / "gone" / "launch.0.json"))
    monkeypatch.setattr(early, "_said", False)
    early.refuse("one")
    early.refuse("two")
    assert capsys.readouterr().err == "affidavit: one\n"
