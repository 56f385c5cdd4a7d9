"""The trap tests can fail: each bend takes one idea away from the observer, and the trap it holds goes red."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import test_observe_scripts as closures
import test_observe_snapshot as held
from git_world import World
from test_observe_traps import TRAPS
from test_observe_traps import test_a_trap_is_never_called_clean as hold_trap

from affidavit.observe import code, comparison, git, module_scan, owner, repository, scripts, snapshot
from affidavit.observe.code import FileIdentity, FileVerdict

Bend = Callable[[pytest.MonkeyPatch], None]


def judge_by_git_status(patch: pytest.MonkeyPatch) -> None:
    """What trackers do: clean is what `git status` does not list."""

    def by_witness(identity: FileIdentity, *_: object) -> code._Look:
        verdict = FileVerdict.MODIFIED if identity.witness else FileVerdict.COMMITTED
        return code._Look(identity=code.replace(identity, verdict=verdict))

    patch.setattr(code, "_inside", by_witness)


def compare_with_the_index(patch: pytest.MonkeyPatch) -> None:
    """`ls-files -s` instead of the commit's tree: what is staged looks committed."""

    def from_index(top: Path, commit: str) -> dict[str, repository.Blob]:
        records = (record.partition("\t") for record in git.ask(top, "ls-files", "-s", "-z").records)
        return {path: repository.Blob(mode=head.split()[0], id=head.split()[1]) for head, _, path in records}

    patch.setattr(repository, "_tree", from_index)


def compare_normalised_bytes_only(patch: pytest.MonkeyPatch) -> None:
    """What `git hash-object` says is equal is equal."""
    patch.setitem(code._AS_COMPARED, comparison.Difference.HIDDEN, FileVerdict.COMMITTED)


def take_the_outermost_repository(patch: pytest.MonkeyPatch) -> None:
    """A file in a submodule is asked of the superproject."""
    patch.setattr(
        owner,
        "is_top",
        lambda folder: repository.is_top(folder) and repository.find_top(folder.parent) is None,
    )


def read_a_refusal_as_silence(patch: pytest.MonkeyPatch) -> None:
    """`except: return None`, as found in the wild."""
    patch.setattr(code, "_look", lambda file, owners: _clean(real_look(file, owners)))


real_look = code._look


def _clean(look: code._Look) -> code._Look:
    if look.identity.verdict is not FileVerdict.GIT_REFUSED:
        return look
    return code._Look(identity=code.replace(look.identity, verdict=FileVerdict.COMMITTED))


def trust_every_repository(patch: pytest.MonkeyPatch) -> None:
    """Asking without the owner check would hide that git itself refuses the user."""
    everyone = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    plain = git.environment
    patch.setattr(git, "environment", lambda extra=None: plain(extra) | everyone)


BENDS: dict[Bend, tuple[str, ...]] = {
    judge_by_git_status: (
        "ignored_module",
        "info_exclude",
        "assume_unchanged",
        "skip_worktree",
        "same_size_same_mtime",
        "clean_filter_hides_the_edit",
    ),
    compare_with_the_index: ("staged_edit",),
    compare_normalised_bytes_only: ("clean_filter_hides_the_edit",),
    take_the_outermost_repository: ("dirty_submodule", "ignored_nested_repository"),
    read_a_refusal_as_silence: ("repository_of_another_user",),
    trust_every_repository: ("repository_of_another_user",),
}


@pytest.mark.parametrize(
    ("bend", "name"),
    [pytest.param(bend, name, id=f"{bend.__name__}-{name}") for bend, names in BENDS.items() for name in names],
)
def test_the_trap_goes_red(nested: World, monkeypatch: pytest.MonkeyPatch, bend: Bend, name: str) -> None:
    bend(monkeypatch)
    with pytest.raises(AssertionError):
        hold_trap(nested, name)


def test_git_status_is_silent_about_seven_of_sixteen_even_when_asked_well() -> None:
    assert sum(case.git_says == "" for case in TRAPS.values()) == 7


def test_leaving_the_inherited_environment_in_asks_about_another_repository(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIT_DIR leaks in from a hook; with the reset the answer stays about the folder."""
    other = tmp_path / "other"
    world.git("init", "-q", str(other))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert world.one("mod.py").verdict is FileVerdict.COMMITTED

    plain = git.environment
    leaking = {"GIT_DIR": str(other / ".git")}
    monkeypatch.setattr(git, "environment", lambda extra=None: plain(extra) | leaking)
    assert world.one("mod.py").verdict is not FileVerdict.COMMITTED


def no_secret_in_names(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(snapshot, "secret_in_name", lambda path: None)


def no_secret_in_contents(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(snapshot, "secret_in_content", lambda content: None)


def no_caps(patch: pytest.MonkeyPatch) -> None:
    plain = snapshot._content
    patch.setattr(snapshot, "_content", lambda repository, path, room, limits: plain(repository, path, 1 << 40, limits))


def any_run_id(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(snapshot, "_RUN", re.compile(r".*"))


def overwrite_the_ref(patch: pytest.MonkeyPatch) -> None:
    plain = snapshot.ask

    def forced(folder: Path, *arguments: str, **keywords: Any) -> git.Answer:
        kept = arguments[:3] if arguments[0] == "update-ref" else arguments
        return plain(folder, *kept, **keywords)

    patch.setattr(snapshot, "ask", forced)


def filter_what_is_kept(patch: pytest.MonkeyPatch) -> None:
    """`git add` would run the clean filter, and the edit would be gone from its own snapshot."""
    plain = snapshot.ask

    def filtered(folder: Path, *arguments: str, **keywords: Any) -> git.Answer:
        kept = tuple("--path=mod.py" if word == "--no-filters" else word for word in arguments)
        return plain(folder, *kept, **keywords)

    patch.setattr(snapshot, "ask", filtered)


@pytest.mark.parametrize(
    ("bend", "hold", "arguments"),
    [
        (no_secret_in_names, held.test_a_secret_never_enters_the_object_store, (".env", "A=1", "name matches .env")),
        (no_secret_in_contents, held.test_a_tracked_file_with_a_new_secret_is_refused_too, ()),
        (no_caps, held.test_the_caps, ()),
        (any_run_id, held.test_a_run_id_that_is_no_ref_name, ("a/b",)),
        (overwrite_the_ref, held.test_a_ref_is_never_overwritten, ()),
        (filter_what_is_kept, held.test_an_edit_that_a_filter_would_undo_is_kept_raw, ()),
    ],
)
def test_a_snapshot_refusal_goes_red(
    world: World, monkeypatch: pytest.MonkeyPatch, bend: Bend, hold: Callable[..., None], arguments: tuple[str, ...]
) -> None:
    bend(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        hold(world, *arguments)


def test_swallowing_a_syntax_error_goes_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(source: bytes, *, package: str) -> module_scan.Scan:
        try:
            return module_scan.scan(source, package=package)
        except SyntaxError:
            return module_scan.Scan(wanted=(), dynamic=())

    monkeypatch.setattr(scripts, "scan", lenient)
    with pytest.raises(AssertionError):
        closures.test_a_file_that_is_not_our_python_is_not_scanned(tmp_path, "import x\nprint 'two'\n")


def test_following_only_plain_imports_goes_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_scan, "_DYNAMIC", frozenset())
    with pytest.raises(ValueError, match="not enough values"):
        closures.test_what_cannot_be_followed_is_listed(tmp_path, "import importlib\nimportlib.import_module(name)\n")
