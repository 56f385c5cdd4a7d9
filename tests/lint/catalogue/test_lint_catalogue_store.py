"""What was read is kept beside what it was read from: a change of either is seen, damage is no answer."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from installation import install

from affidavit.lint.catalogue import Catalogue, Missing
from affidavit.lint.catalogue.reader import Reader
from affidavit.names.signature import Signature

BASE = "from base import Root\nclass Thing(Root): ...\n"
ROOT = "class Root:\n    def __init__(self, {}): ...\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return install(tmp_path / "site", {"pack.py": BASE, "base.py": ROOT.format("a")})


def find(site: Path, store: Path, callee: str = "pack.Thing") -> list[str]:
    found = Catalogue([site], store).find(callee)
    assert isinstance(found, Signature), found
    return list(found.parameters)


def files(store: Path) -> list[Path]:
    return sorted(store.rglob("*.json"))


@pytest.fixture
def forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(Reader, "read", refuse)


def test_a_second_process_reads_no_source(site: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    first = Catalogue([site], tmp_path / "store").find("pack.Thing")
    request.getfixturevalue("forbidden")
    assert Catalogue([site], tmp_path / "store").find("pack.Thing") == first


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "null", '{"keys": {}}', '{"keys": 3, "parameters": [[1]]}', "\x00" * 10],
)
def test_a_damaged_file_is_written_anew(damage: str, site: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    find(site, store)
    (path,) = files(store)
    whole = path.read_text()
    path.write_text(damage)
    assert find(site, store) == ["a"]
    assert path.read_text() == whole


@pytest.mark.parametrize("record", [True, False])
def test_a_package_that_changed_is_read_again(record: bool, tmp_path: Path) -> None:
    site, store = tmp_path / "site", tmp_path / "store"
    install(site, {"pack.py": ROOT.format("a")}, record=record)
    assert find(site, store, "pack.Root") == ["a"]
    install(site, {"pack.py": ROOT.format("a, more")}, record=record)
    assert find(site, store, "pack.Root") == ["a", "more"]


def test_a_package_below_that_changed_is_read_again(site: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert find(site, store) == ["a"]
    install(site, {"base.py": ROOT.format("b")}, version="1.0")
    assert find(site, store) == ["b"]
    install(site, {"base.py": ROOT.format("a")}, version="1.0")
    assert find(site, store) == ["a"]
    assert len(files(store)) == 2, "what was read of both stays"


def test_an_editable_install_is_found_and_watched(tmp_path: Path) -> None:
    site, source, store = tmp_path / "site", tmp_path / "source", tmp_path / "store"
    source.mkdir()
    (source / "mine").mkdir()
    (source / "mine/__init__.py").write_text("def f(a): ...\n")
    install(site, {"other.py": ""})
    (site / "_editable.pth").write_text(f"import os\n{source}\n")
    assert find(site, store, "mine.f") == ["a"]
    (source / "mine/__init__.py").write_text("def f(a, bb): ...\n")
    assert find(site, store, "mine.f") == ["a", "bb"]


def test_a_finder_of_an_editable_install_is_read_as_text(tmp_path: Path) -> None:
    site, source = tmp_path / "site", tmp_path / "source"
    (source / "mine").mkdir(parents=True)
    (source / "mine/__init__.py").write_text("def f(a): ...\n")
    install(site, {"other.py": ""})
    finder = f"raise SystemExit\nMAPPING: dict[str, str] = {{'mine': '{source}/mine'}}\nNAMESPACES = {{}}\n"
    (site / "__editable___mine_1_0_finder.py").write_text(finder)
    assert find(site, tmp_path / "store", "mine.f") == ["a"]


def test_writers_do_not_disturb_each_other(site: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with ThreadPoolExecutor(8) as pool:
        assert set(map(tuple, pool.map(lambda _: find(site, store), range(40)))) == {("a",)}
    (path,) = files(store)
    assert json.loads(path.read_text())["callee"] == "pack.Thing"
    assert [one.name for one in path.parent.iterdir()] == [path.name], "no half of a file stays"


def test_a_store_that_cannot_be_written_costs_no_answer(site: Path, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    assert find(site, tmp_path / "store") == ["a"]


def test_an_earlier_version_is_answered_from_the_store(tmp_path: Path) -> None:
    store = tmp_path / "store"
    old = install(tmp_path / "old", {"pack.py": BASE, "base.py": ROOT.format("a=1")})
    new = install(tmp_path / "new", {"pack.py": BASE, "base.py": ROOT.format("a=2")}, version="2.0")
    Catalogue([old], store).find("pack.Thing")
    catalogue = Catalogue([new], store)
    catalogue.find("pack.Thing")
    then = catalogue.before({"pack": "1.0", "base": "1.0"}).find("pack.Thing")
    assert isinstance(then, Signature)
    assert (then.package, then.parameters["a"].default) == ("pack 1.0", "1")
    assert catalogue.before({"pack": "1.0", "base": "1.5"}).find("pack.Thing") == Missing(
        why="pack.Thing of pack 1.0 was never read", package_absent=False
    )
    assert catalogue.versions_read("pack") == ("1.0", "2.0")
    assert catalogue.before({"pack": "1.0"}).package_of("pack") == "pack 1.0"


def test_a_distribution_of_another_name_is_found_by_its_record(tmp_path: Path) -> None:
    site = install(tmp_path, {"yaml/__init__.py": "def load(stream): ...\n", "aa.py": ""})
    (site / "yaml-1.0.dist-info").rename(site / "PyYAML-6.0.4.dist-info")
    catalogue = Catalogue([site], None)
    assert catalogue.package_of("yaml.loader") == "pyyaml 6.0.4"
    assert catalogue.package_of("nothing") == ""
    assert catalogue.version_of("PyYAML") == "6.0.4"
