"""An entry is there whole or not at all, and a shard is what its builder wrote or it is set aside."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from affidavit.cache.preimage import Part, Preimage
from affidavit.cache.store import Build, Store, StoreError, default_folder
from affidavit.cache.store.entry import Entry


def _preimage(word: str = "one") -> Preimage:
    return Preimage((Part("config", "word", f"sha256:{word}", word),))


def _write(build: Build, at: int, data: bytes, rows: int = 1) -> None:
    with build.shard(at, made_of=rows) as draft:
        draft.path.write_bytes(data)
        draft.rows = rows


def _built(store: Store, *shards: bytes, word: str = "one") -> Entry:
    with store.building(_preimage(word)) as build:
        for at, data in enumerate(shards):
            _write(build, at, data)
        found = build.finished()
        return build.publish(tuple(found[at] for at in sorted(found)), form="rows", facts={"tokens": 3})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_an_entry_is_read_back_with_what_it_was_built_with(store: Store) -> None:
    made = _built(store, b"first", b"second")
    found = store.find(made.key)
    assert found == made
    assert found is not None
    assert found.preimage == _preimage()
    assert found.facts == {"tokens": 3}
    assert found.rows == 2
    assert [path.read_bytes() for path in found.files] == [b"first", b"second"]
    assert store.find(_preimage("two").digest) is None
    assert [entry.key for entry in store.entries()] == [made.key]


def test_until_it_is_published_there_is_no_entry(store: Store) -> None:
    with store.building(_preimage()) as build:
        _write(build, 0, b"first")
        assert store.find(_preimage().digest) is None
        assert list(store.entries()) == []
    with store.building(_preimage()) as build:
        assert [shard.at for shard in build.finished().values()] == [0]


def test_a_block_that_fails_leaves_no_shard(store: Store) -> None:
    with store.building(_preimage()) as build:
        with pytest.raises(ValueError, match="the function"), build.shard(0, made_of=1) as draft:
            draft.path.write_bytes(b"half")
            raise ValueError("the function")
        assert build.finished() == {}
    assert [path.name for path in store.place.path(_preimage().digest[7:]).iterdir()] == []


def test_what_a_killed_writer_left_is_swept_and_never_read(store: Store) -> None:
    folder = store.place.path(_preimage().digest[7:])
    folder.mkdir(parents=True)
    (folder / "shard-00000.arrow.part-1-aa").write_bytes(b"half")
    (folder / "entry.json.part-1-aa").write_bytes(b"{")
    assert store.find(_preimage().digest) is None
    with store.building(_preimage()):
        assert list(folder.iterdir()) == []


def test_what_was_left_elsewhere_is_swept_once_it_is_old(store: Store) -> None:
    made = _built(store, b"first")
    young, old = (store.place.path(f"checked/{made.key[7:]}.part-1-{name}") for name in ("young", "old"))
    young.touch()
    old.touch()
    os.utime(old, (0, 0))
    _built(store, b"second", word="two")
    assert young.exists()
    assert not old.exists()


def test_the_first_to_publish_is_the_one(store: Store) -> None:
    first = _built(store, b"first")
    second = _built(store, b"other")
    assert second == first
    assert sorted(path.name for path in first.folder.iterdir() if path.name.startswith("shard")) == [
        first.shards[0].name
    ]


@pytest.mark.parametrize("check", ["stat", "always"])
def test_a_flipped_byte_is_seen_and_the_shard_set_aside(store: Store, check: str) -> None:
    made = _built(store, b"first", b"second")
    reader = Store(store.place.root, check=check)
    assert reader.whole(made.key) == (made, ())
    made.files[1].write_bytes(b"sXcond")
    assert [shard.at for shard in reader.damaged(made)] == [1]
    found, aside = reader.whole(made.key)
    assert found is None
    assert [Path(path).read_bytes() for path in aside] == [b"sXcond"]
    with store.building(made.preimage) as build:
        assert sorted(build.finished()) == [0], "the sound shard is kept"


def test_a_byte_that_flips_behind_the_times_is_seen_by_reading_always(store: Store) -> None:
    made = _built(store, b"first")
    path = made.files[0]
    path.write_bytes(b"fXrst")
    checked = store.place.path(f"checked/{made.key[7:]}")
    state = path.stat()
    said = checked.read_text()
    old = said[said.index("[") : said.index("]") + 1]
    new = [state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns]
    checked.write_text(said.replace(old, str(new)))
    assert store.damaged(made) == ()
    assert Store(store.place.root, check="always").damaged(made) == made.shards


def test_an_edited_file_with_its_old_time_and_size_is_read(store: Store) -> None:
    made = _built(store, b"first")
    path = made.files[0]
    times = path.stat()
    path.write_bytes(b"fXrst")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert store.damaged(made) == made.shards


def test_a_shard_that_is_gone_is_damaged_in_every_mode(store: Store) -> None:
    made = _built(store, b"first")
    made.files[0].unlink()
    for check in ("stat", "always", "never"):
        assert Store(store.place.root, check=check).damaged(made) == made.shards


@pytest.mark.parametrize("spoil", [b"", b"{", b"[]", b'{"version":1}'])
def test_an_entry_that_is_not_what_was_written_is_none(store: Store, spoil: bytes) -> None:
    made = _built(store, b"first")
    (made.folder / "entry.json").write_bytes(spoil)
    assert store.find(made.key) is None
    assert [path.read_bytes() for path in store.place.path("quarantine").iterdir()] == [spoil]
    assert _built(store, b"first").shards == made.shards


def test_one_number_changed_in_an_entry_is_seen(store: Store) -> None:
    made = _built(store, b"first")
    path = made.folder / "entry.json"
    path.write_text(path.read_text().replace('"tokens":3', '"tokens":4'))
    assert store.find(made.key) is None


def test_an_entry_under_another_key_is_none(store: Store) -> None:
    made = _built(store, b"first")
    made.folder.rename(store.place.path(_preimage("two").digest[7:]))
    assert store.find(_preimage("two").digest) is None


def test_a_full_disk_leaves_nothing_half(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        if stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.ENOSPC, "No space left on device")

    with store.building(_preimage()) as build:
        _write(build, 0, b"first")
        with monkeypatch.context() as patch:
            patch.setattr("affidavit.cache.store.place.os.fsync", full)
            with pytest.raises(OSError, match="No space left"):
                _write(build, 1, b"second")
        assert sorted(build.finished()) == [0]
    assert not [path for path in store.place.root.rglob("*") if ".part-" in path.name]


def test_without_links_a_name_is_still_taken_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(path: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    assert store.place.put_new("name", b"first")
    assert not store.place.put_new("name", b"second")
    assert store.place.read("name") == b"first"


def test_without_locks_the_work_is_done_all_the_same(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(number: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("affidavit.cache.store.place.fcntl.flock", no_locks)
    made = _built(store, b"first")
    assert store.whole(made.key) == (made, ())


def test_a_plan_is_that_of_whoever_began(store: Store) -> None:
    with store.building(_preimage()) as build:
        assert build.planned(lambda: {"rows": 5}, ("rows",)) == {"rows": 5}
    with store.building(_preimage()) as build:
        assert build.planned(lambda: {"rows": 7}, ("rows",)) == {"rows": 5}


def test_a_check_of_another_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="check: expected stat or always or never, saw 'often'"):
        Store(tmp_path, check="often")


def test_the_store_lies_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AFFIDAVIT_CACHE", raising=False)
    (tmp_path / "affidavit.toml").touch()
    (tmp_path / "deep/er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep/er")
    assert default_folder() == tmp_path / ".affidavit/cache"
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / "elsewhere"))
    assert Store().place.root == tmp_path / "elsewhere"


def test_what_is_stored_is_no_part_of_the_repository(store: Store) -> None:
    _built(store, b"first")
    assert (store.place.root / ".gitignore").read_text() == "*\n"
