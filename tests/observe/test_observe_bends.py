"""The trap tests can fail: each bend takes one idea away from the observer, and the trap it holds goes red."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from git_world import World
from test_observe_traps import TRAPS
from test_observe_traps import test_a_trap_is_never_called_clean as hold_trap

from affidavit.observe import code, comparison, git, owner, repository
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
