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
from affidavit.fact.values import Digest, Table
from affidavit.fact.vocabulary import load
from affidavit.record.record import Fact, Kind, Record
from affidavit.run.code import code_facts
from affidavit.run.command import read_command
from affidavit.run.tree import examine_tree, kept_commits


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(root), *identity, *words], capture_output=True, check=True)


def repository(root: Path, files: Mapping[str, str]) -> Path:
    root.mkdir()
    for name, text in files.items():
        (root / name).write_text(text)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    return root


def listed(evidence: Path, files: Iterable[Path], *, ranks: tuple[int, ...] = (0,)) -> Fact:
    """Keep a list of loaded files as the inside half does, and return the fact that names it."""
    python = {"kind": "python", "prefix": sys.prefix, "base_prefix": sys.base_prefix, "sites": [], "stdlib": []}
    said: list[dict[str, object]] = [python]
    said += [{"kind": "code", "path": str(file), "sha256": _sha256(file)} for file in files]
    content = "\n".join(map(json.dumps, said)).encode()
    digest = Digest("sha256", hashlib.sha256(content).hexdigest())
    (evidence / "evidence").mkdir(exist_ok=True)
    (evidence / "evidence" / digest.hex).write_bytes(content)
    return Fact(name="code.listing", state=Known(digest, Method.EXECUTED, "test"), ranks=ranks)


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
