"""Whose the code is that ran: what one rank's list, one repository or one filter leaves open is never called clean."""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from affidavit.fact.observation import Cause, Known, State, Unknown
from affidavit.fact.term import Method
from affidavit.fact.values import Digest, Table, Tally
from affidavit.fact.vocabulary import load
from affidavit.record.record import Fact, Kind, Record
from affidavit.run.code import code_facts
from affidavit.run.command import read_command
from affidavit.run.tree import examine_tree, kept_commits


def git(root: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    command = ["git", "-C", str(root), *identity, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def repository(root: Path, files: Mapping[str, str]) -> Path:
    root.mkdir()
    for name, text in files.items():
        (root / name).write_text(text)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    return root


def listed(
    evidence: Path,
    files: Iterable[Path],
    *,
    ranks: tuple[int, ...] = (0,),
    installed: Iterable[Path] = (),
    heads: Iterable[tuple[Path, str]] = (),
) -> Fact:
    """Keep a list of loaded files as the inside half does, and return the fact that names it."""
    sites = sorted({str(path.parents[1]) for path in installed})
    python = {"kind": "python", "prefix": sys.prefix, "base_prefix": sys.base_prefix, "sites": sites, "stdlib": []}
    said: list[dict[str, object]] = [python]
    said += [{"kind": "installed", "path": str(file), "seen": _seen(file)} for file in installed]
    said += [{"kind": "head", "path": str(top), "commit": commit} for top, commit in heads]
    said += [{"kind": "code", "path": str(file), "sha256": _sha256(file)} for file in files]
    content = "\n".join(map(json.dumps, said)).encode()
    digest = Digest("sha256", hashlib.sha256(content).hexdigest())
    (evidence / "evidence").mkdir(exist_ok=True)
    (evidence / "evidence" / digest.hex).write_bytes(content)
    return Fact(name="code.listing", state=Known(digest, Method.EXECUTED, "test"), ranks=ranks)


def _seen(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def states(
    facts: tuple[Fact, ...], evidence: Path, project: Path, *, world: int = 1, commits: Mapping[Path, str] | None = None
) -> dict[str, State]:
    record = Record(kind=Kind.RUN, subject="r", facts=facts, vocabulary=load(), world=world)
    found = code_facts(record, places=(evidence,), cwd=project, project=project, commits=commits or {})
    return {fact.name: fact.state for fact in found}


def rows(state: State) -> tuple[tuple[object, ...], ...]:
    assert isinstance(state, Known) and isinstance(state.value, Table), state
    return state.value.rows


def test_a_rank_that_told_nothing_leaves_the_code_unknown(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"train.py": ""})
    fact = listed(tmp_path, [project / "train.py"])
    assert rows(states((fact,), tmp_path, project)["code.deviations"]) == ()
    for state in states((fact,), tmp_path, project, world=2).values():
        assert isinstance(state, Unknown) and state.cause is Cause.RANK_MISSING and "rank 1" in state.why
    whole = replace(fact, ranks=(0, 1))
    assert rows(states((whole,), tmp_path, project, world=2)["code.deviations"]) == ()


def test_what_one_rank_shows_to_deviate_deviates_whatever_another_would_say(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"train.py": ""})
    (project / "stray.py").write_text("")
    fact = listed(tmp_path, [project / "train.py", project / "stray.py"])
    ((path, _, verdict),) = rows(states((fact,), tmp_path, project, world=2)["code.deviations"])
    assert (path, verdict) == ("stray.py", "not-in-commit")


def test_a_file_whose_filter_fails_is_not_called_clean(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"train.py": "", "data.yaml": "a: 1\n", ".gitattributes": "*.yaml filter=x\n"})
    git(project, "config", "filter.x.clean", "false")
    git(project, "config", "filter.x.required", "true")
    (project / "data.yaml").write_text("a: 2\n")
    fact = listed(tmp_path, [project / "train.py", project / "data.yaml"])
    state = states((fact,), tmp_path, project)["code.deviations"]
    assert isinstance(state, Unknown) and state.cause is Cause.GIT_REFUSED and "data.yaml" in state.why


@pytest.mark.parametrize("edited", [("app", "lib"), ("lib",), ("app",)])
def test_a_snapshot_answers_for_every_repository_that_it_kept(tmp_path: Path, edited: tuple[str, ...]) -> None:
    app = repository(tmp_path / "app", {"train.py": "import lib_of_mine\n"})
    lib = repository(tmp_path / "lib; of mine", {"lib_of_mine.py": ""})
    files = {"app": app / "train.py", "lib": lib / "lib_of_mine.py"}
    for name in edited:
        with files[name].open("a") as file:
            file.write("# edited\n")
    environment = {**os.environ, "PYTHONPATH": str(lib)}
    command = read_command((sys.executable, "train.py"), cwd=app, environment=environment)
    answer = examine_tree(command, project=app, environment=environment, gate="snapshot", run="r1")
    assert answer.proceeds, answer.refusal
    (gate,) = [fact.state for fact in answer.facts if fact.name == "tree.gate"]
    assert isinstance(gate, Known)
    commits = kept_commits(str(gate.value), app)
    assert set(commits) == {{"app": app, "lib": lib}[name] for name in edited}
    fact = listed(tmp_path, files.values())
    assert rows(states((fact,), tmp_path, app, commits=commits)["code.deviations"]) == ()
    assert len(rows(states((fact,), tmp_path, app)["code.deviations"])) == len(edited), "HEAD does not hold the edit"


def test_a_user_with_a_number_only_is_judged_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that is started with a user of its own; made-up code in a temporary folder is nobody's."""

    def nameless(_: int) -> None:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.delenv("USER", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nameless)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    project = repository(tmp_path / "p", {"train.py": ""})
    made = tmp_path / f"torchinductor_{os.getuid()}"
    made.mkdir()
    for place in (made / "made.py", tmp_path / "mine.py"):
        place.write_text("")
    fact = listed(tmp_path, [project / "train.py", made / "made.py", tmp_path / "mine.py"])
    ((path, _, verdict),) = rows(states((fact,), tmp_path, project)["code.deviations"])
    assert (path, verdict) == (str(tmp_path / "mine.py"), "orphan")


def value(state: State) -> object:
    assert isinstance(state, Known), state
    return state.value


def test_a_line_edited_in_an_installed_package_is_told_and_is_no_fault_of_the_project(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"train.py": ""})
    site = tmp_path / "venv/lib/python3.11/site-packages"
    for name in ("edited", "plain", "conda"):
        (site / name).mkdir(parents=True)
        (site / name / "x.py").write_text("")
        metadata = site / f"{name}-1.dist-info"
        metadata.mkdir()
        (metadata / "INSTALLER").write_text("conda\n" if name == "conda" else "pip\n")
        (metadata / "RECORD").write_text(f"{name}/x.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n")
    for name in ("edited", "conda"):
        (site / name / "x.py").write_text("# written later\n")
    held = [site / name / "x.py" for name in ("edited", "plain", "conda")]
    found = states((listed(tmp_path, [project / "train.py"], installed=held),), tmp_path, project)
    assert rows(found["code.deviations"]) == ()
    assert rows(found["code.installed_deviations"]) == ((str(held[0]), "edited 1", "differs-from-record"),)
    counts = {"as-recorded": 1, "differs-from-record": 1, "unrecorded": 1}
    assert value(found["code.installed_by_record"]) == Tally.count("files", counts)
    assert value(found["code.files_by_verdict"]) == Tally.count("files", {"committed": 1, "installed": 3})
    missing = states((listed(tmp_path, [project / "train.py"], installed=held),), tmp_path, project, world=2)
    assert len(rows(missing["code.installed_deviations"])) == 1, "whatever the other rank would say"


def test_a_package_that_was_upgraded_while_the_run_went_on_is_told_and_accuses_nobody(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"train.py": ""})
    path = tmp_path / "venv/lib/python3.11/site-packages/lib/x.py"
    path.parent.mkdir(parents=True)
    path.write_text("")
    metadata = path.parents[1] / "lib-1.dist-info"
    metadata.mkdir()
    (metadata / "INSTALLER").write_text("pip\n")
    (metadata / "RECORD").write_text("lib/x.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n")
    fact = listed(tmp_path, [project / "train.py"], installed=[path])
    path.write_text("# edited while the run goes on\n")
    found = states((fact,), tmp_path, project)
    assert rows(found["code.installed_deviations"]) == ()
    assert str(value(found["code.installed_by_record"])).startswith("0 as-recorded, 0 differs-from-record, 1 rewritten")
    assert value(found["code.changed_on_disk"]) == (str(path),)


def test_a_commit_made_while_the_run_goes_on_is_none_that_it_ran(tmp_path: Path) -> None:
    """A library beside the project, at HEAD when it was imported; its author goes on working."""
    project = repository(tmp_path / "p", {"train.py": ""})
    library = repository(tmp_path / "lib", {"lib.py": "K = 1\n"})
    before = git(library, "rev-parse", "HEAD")
    files = [project / "train.py", library / "lib.py"]
    silent, told = listed(tmp_path, files), listed(tmp_path, files, heads=[(library, before)])
    (library / "lib.py").write_text("K = 2\n")
    git(library, "commit", "-q", "-a", "-m", "later")
    assert rows(states((silent,), tmp_path, project)["code.deviations"])[0][2] == "changed-since"
    found = states((told,), tmp_path, project)
    assert rows(found["code.deviations"]) == ()
    assert f"lib@{before}" in str(value(found["code.commit"]))
    assert value(found["code.changed_on_disk"]) == (str(library / "lib.py"),)
    pinned = states((told,), tmp_path, project, commits={library: git(library, "rev-parse", "HEAD")})
    assert rows(pinned["code.deviations"])[0][2] == "changed-since", "what the launcher saw comes first"


def test_an_edit_that_was_loaded_stays_one_after_it_was_committed(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"train.py": ""})
    library = repository(tmp_path / "lib", {"lib.py": "K = 1\n"})
    before = git(library, "rev-parse", "HEAD")
    (library / "lib.py").write_text("K = 2\n")
    told = listed(tmp_path, [project / "train.py", library / "lib.py"], heads=[(library, before)])
    git(library, "commit", "-q", "-a", "-m", "afterwards")
    assert [row[2] for row in rows(states((told,), tmp_path, project)["code.deviations"])] == ["modified"]


def test_a_submodule_that_ran_at_another_commit_deviates(tmp_path: Path) -> None:
    source = repository(tmp_path / "source", {"sub.py": "K = 1\n"})
    project = repository(tmp_path / "p", {"train.py": ""})
    git(project, "submodule", "--quiet", "add", str(source), "sub")
    git(project, "commit", "-q", "-m", "sub")
    files = [project / "train.py", project / "sub/sub.py"]
    assert rows(states((listed(tmp_path, files),), tmp_path, project)["code.deviations"]) == ()
    (project / "sub/sub.py").write_text("K = 2\n")
    git(project / "sub", "commit", "-q", "-a", "-m", "only in the submodule")
    ((path, _, verdict),) = rows(states((listed(tmp_path, files),), tmp_path, project)["code.deviations"])
    assert (path, verdict) == ("sub", "submodule at another commit")


def test_a_version_that_a_build_wrote_deviates_from_nothing(tmp_path: Path) -> None:
    project = repository(tmp_path / "p", {"train.py": "", ".gitignore": "_version.py\n"})
    (project / "_version.py").write_text("# file generated by setuptools-scm\n__version__ = version = '0.1'\n")
    files = [project / "train.py", project / "_version.py"]
    assert rows(states((listed(tmp_path, files),), tmp_path, project)["code.deviations"]) == ()
    (project / "_version.py").write_text("__version__ = '0.1'\nimport secret_sauce\n")
    ((path, _, verdict),) = rows(states((listed(tmp_path, files),), tmp_path, project)["code.deviations"])
    assert (path, verdict) == ("_version.py", "not-in-commit")
