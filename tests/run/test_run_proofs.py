"""A gate is proved on a copy of the tree, a guard is found as text, and an old proof proves nothing of new code."""

from __future__ import annotations

import datetime
import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from affidavit import checks as house_checks
from affidavit.case import case_of
from affidavit.check.digest import digest_of
from affidavit.check.load import load as load_checks
from affidavit.fact.observation import Known
from affidavit.fact.values import Table
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.record import ledger
from affidavit.record.declared import Gate
from affidavit.record.ledger import Drilled, Instrument
from affidavit.run.proofs import copied, files, gates, guards, observers, shell, standing
from affidavit.run.proofs.standing import Inquiry, standing_facts
from affidavit.settings import Settings

TODAY = datetime.date(2026, 12, 1)
LABELS = Gate(name="labels", command="python3 labels.py", sabotage="echo bad >> data.txt")
CHECKS = load_checks(house_checks, load_vocabulary())[:3]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A committed tree with a gate that can say no, one that cannot, and a link that leads out of it."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "labels.py").write_text("import sys\nsys.exit('bad' in open('data.txt').read())\n")
    (root / "inert.sh").write_text("grep -c bad data.txt | wc -l\n")
    (root / "data.txt").write_text("good\n")
    (tmp_path / "outside.txt").write_text("outside\n")
    (root / "leads-out").symlink_to(tmp_path / "outside.txt")
    (root / "leads-in").symlink_to(root / "data.txt")
    _git(root, "init", "--quiet")
    _git(root, "add", ".")
    _git(root, "-c", "user.name=Ada", "-c", "user.email=a@localhost", "commit", "--quiet", "-m", "As it is")
    (root / "untracked.txt").write_text("beside\n")
    return root


def _git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True)


def bytes_of(folder: Path) -> Mapping[str, object]:
    """Return every path below a folder with what it is and holds, ``.git`` included; times apart."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        held = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
        found[str(path.relative_to(folder))] = (path.lstat().st_mode, held)
    return found


@pytest.mark.parametrize(
    ("gate", "word", "why"),
    [
        (LABELS, "PROVED", "exit code 1"),
        (replace(LABELS, command="sh inert.sh"), "INERT", "it says yes with the fault planted"),
        (replace(LABELS, command="git diff --exit-code -- data.txt"), "PROVED", "exit code 1"),
        (replace(LABELS, sabotage="echo bad >> leads-in"), "PROVED", "exit code 1"),
        (replace(LABELS, sabotage="touch data.txt"), "ERROR", "the sabotage changes nothing"),
        (replace(LABELS, sabotage="false"), "ERROR", "the sabotage was not planted: exit code 1"),
        (replace(LABELS, sabotage="echo bad >> leads-out"), "INERT", "it says yes"),
        (replace(LABELS, command="false"), "ERROR", "it fails on a copy of the tree as it is"),
        (replace(LABELS, command="no-such-command"), "ERROR", "there is no such command"),
        (replace(LABELS, command="sleep 60", seconds=0.3), "ERROR", "no end within 0.3 s"),
        (replace(LABELS, command="grep -q bad data.txt && sleep 60; true", seconds=0.5), "ERROR", "neither yes nor no"),
        (replace(LABELS, command="! grep -q bad data.txt || kill -9 $$"), "ERROR", "ended by signal 9"),
    ],
    ids=lambda part: part.command[:30] + part.sabotage[:30] if isinstance(part, Gate) else "",
)  # fmt: skip
def test_a_gate_is_proved_by_a_no_and_by_nothing_else(tree: Path, gate: Gate, word: str, why: str) -> None:
    before = bytes_of(tree.parent)
    proved = gates.prove(gate, tree, os.environ)
    assert (proved.word, why in proved.why) == (word, True), proved
    assert bytes_of(tree.parent) == before, "nothing of the real tree, nor of what lies around it, is touched"


def test_a_line_that_names_the_tree_itself_is_not_run(tree: Path) -> None:
    named = replace(LABELS, sabotage=f"echo bad >> {tree}/data.txt")
    assert gates.prove(named, tree, os.environ).why.startswith("the sabotage names the tree itself")
    assert (tree / "data.txt").read_text() == "good\n"


def test_a_sabotage_that_finds_the_tree_all_the_same_is_told(tree: Path) -> None:
    found = f"cd {tree.parent}; cd tr*; echo bad >> data.txt; cd -; echo bad >> data.txt"
    proved = gates.prove(replace(LABELS, sabotage=found), tree, os.environ)
    assert proved.word == "ERROR" and "data.txt of the tree itself changed" in proved.why


def test_neither_repository_nor_packages_of_the_tree_are_reached_from_the_copy(tree: Path) -> None:
    (tree / "src").mkdir()
    (tree / "src" / "own.py").write_text("import os\nplace = os.path.realpath(__file__)\n")
    leaking = {
        **os.environ,
        "GIT_DIR": str(tree / ".git"),
        "AFFIDAVIT_DIR": str(tree / "runs"),
        "DATA": str(tree / "data.txt"),
        "PATH": f"{tree / 'src'}{os.pathsep}{os.environ['PATH']}",
    }
    with copied.copied(tree, leaking, (tree / "src",)) as copy:
        said = shell.run(
            'python3 -c "import own; print(own.place)"; echo $DATA; echo ${GIT_DIR-no}${AFFIDAVIT_DIR-no}; '
            "git rev-parse --show-toplevel; ls -a; echo $PATH",
            folder=copy.folder,
            environment=copy.environment,
            seconds=20,
        )
        lines = said.tail.splitlines()
        assert lines[:4] == [
            f"{copy.folder}/src/own.py",
            f"{copy.folder}/data.txt",
            "nono",
            str(copy.folder),
        ]
        assert "untracked.txt" in lines and "leads-in" in lines and "leads-out" not in lines
        assert lines[-1].startswith(f"{copy.folder}/src{os.pathsep}")
    assert not copy.folder.exists()


def test_a_package_that_is_installed_from_the_tree_is_found(tmp_path: Path) -> None:
    import affidavit

    root = Path(affidavit.__file__).parents[2]
    assert root / "src" in copied.installed_from(root, Path(sys.executable), os.environ)
    assert copied.installed_from(tmp_path, Path(sys.executable), os.environ) == ()
    assert copied.installed_from(tmp_path, tmp_path / "no-python", os.environ) == ()


def test_a_tree_that_is_too_large_is_not_copied(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied, "MOST_BYTES", 10)
    proved = gates.prove(LABELS, tree, os.environ)
    assert proved.word == "ERROR" and "that git does not ignore" in proved.why


def test_whatever_a_line_started_is_gone_with_it(tmp_path: Path) -> None:
    said = shell.run(
        f"(setsid sleep 1234 & echo $! > {tmp_path}/away); sleep 1235 & echo $! > {tmp_path}/near; exit 3",
        folder=tmp_path,
        environment=os.environ,
        seconds=20,
    )
    assert said.is_no and said.code == 3
    for name in ("away", "near"):
        stat = Path(f"/proc/{(tmp_path / name).read_text().strip()}/stat")
        assert not stat.exists() or " Z " in stat.read_text()


def test_only_the_end_of_what_a_line_prints_is_kept(tmp_path: Path) -> None:
    said = shell.run("yes | head -c 1000000; echo last", folder=tmp_path, environment=os.environ, seconds=20)
    assert said.is_yes and said.why == "exit code 0 (last)" and len(said.tail) <= shell.TAIL_BYTES


def test_a_proof_hangs_on_what_the_lines_name_or_on_what_is_covered(tree: Path) -> None:
    assert set(gates.hangs_on(LABELS, tree)) == {"command", "sabotage", "labels.py", "data.txt"}
    covered = gates.hangs_on(replace(LABELS, covers=("*.sh", "nothing-*")), tree)
    assert set(covered) == {"command", "sabotage", "inert.sh"}
    assert covered["inert.sh"] == hashlib.sha256((tree / "inert.sh").read_bytes()).hexdigest()
    (tree / "pkg").mkdir()
    for number in range(files.SINGLY + 1):
        (tree / "pkg" / f"{number}.py").write_text(str(number))
    many = gates.hangs_on(replace(LABELS, command="python3 -m pkg"), tree)
    assert f"{files.SINGLY + 1} files" in many or len(many) == 3, many


# --- the ledger, and what is due --------------------------------------------------------------------------------------


def _stand(tree: Path, *, proves: bool = True, as_of: datetime.date = TODAY, gate: Gate = LABELS) -> Mapping[str, str]:
    """Return the word and the reason for each instrument of a tree, on a day."""
    settings = Settings(root=tree, gates=(gate,))
    inquiry = Inquiry(as_of=as_of, verb="preflight" if proves else "", proves=proves, python=Path(sys.executable))
    proofs, _ = standing_facts(settings, CHECKS, os.environ, inquiry)
    assert isinstance(proofs.state, Known) and isinstance(proofs.state.value, Table)
    return {str(row["name"]): f"{row['word']} {row['why']}" for row in proofs.state.value.records()}


def test_what_is_due_is_proved_once_and_again_when_it_changed_or_is_too_old(tree: Path) -> None:
    path = tree / "instruments.jsonl"
    assert _stand(tree, proves=False) == {"labels": "UNPROVED never proved"} and not path.exists()
    assert _stand(tree)["labels"].startswith("PROVED")
    written = ledger.read(path)
    assert [one.check for one in written.drills] == [check.id for check in CHECKS]
    assert all(one.is_proof and one.code for one in written.drills)
    assert _stand(tree)["labels"].startswith("PROVED") and ledger.read(path) == written, "nothing was due"

    later = TODAY + datetime.timedelta(days=91)
    assert "more than 90 days ago" in _stand(tree, proves=False, as_of=later)["labels"]
    assert _stand(tree, as_of=later)["labels"].startswith("PROVED")
    assert len(ledger.read(path).drills) == 2 * len(CHECKS)

    (tree / "labels.py").write_text("print('always yes')\n")
    assert _stand(tree, proves=False, as_of=later) == {"labels": "UNPROVED changed since: labels.py"}
    assert _stand(tree, as_of=later) == {"labels": "INERT it says yes with the fault planted"}
    assert _stand(tree, proves=False, as_of=later)["labels"].startswith("INERT"), "a run says so, too"


def test_a_proof_that_took_long_is_not_repeated_unasked(tree: Path) -> None:
    line = standing.gate_line(LABELS, gates.Proved(word="PROVED", why="exit code 1", seconds=5.1), tree, TODAY)
    ledger.append(tree / "instruments.jsonl", [line])
    assert _stand(tree)["labels"].startswith("PROVED")
    (tree / "labels.py").write_text("import sys; sys.exit('bad' in open('data.txt').read())\n")
    assert _stand(tree) == {"labels": "UNPROVED changed since: labels.py"}


def test_a_gate_that_could_not_be_proved_is_no_line_and_is_tried_again(tree: Path) -> None:
    broken = replace(LABELS, sabotage="false")
    assert _stand(tree, gate=broken)["labels"].startswith("UNPROVED the sabotage was not planted")
    assert ledger.read(tree / "instruments.jsonl").instruments == ()
    assert _stand(tree)["labels"].startswith("PROVED")


def test_a_check_that_missed_is_inert_on_its_own_code_only(tree: Path) -> None:
    missed = Drilled(check=CHECKS[0].id, date=TODAY, caught=1, total=2, affidavit="0.1.0", code=digest_of(CHECKS[0]))
    ledger.append(tree / "instruments.jsonl", [missed])
    assert _stand(tree, proves=False)[CHECKS[0].id] == "INERT 1 of 2 caught"
    ledger.append(tree / "instruments.jsonl", [replace_code(missed, "f" * 64)])
    assert CHECKS[0].id not in _stand(tree, proves=False)
    assert standing.doubts(Settings(root=tree), CHECKS, ledger.read(tree / "instruments.jsonl"), TODAY)


def replace_code(line: Drilled, code: str) -> Drilled:
    return Drilled(check=line.check, date=line.date, caught=2, total=2, affidavit=line.affidavit, code=code)


def test_the_watch_stands_while_its_code_does(tree: Path) -> None:
    line = Instrument(
        kind="watch", name="decoys", date=TODAY, caught=2, total=2, affidavit="0.1.0", word="PROVED",
        on=standing.watch_code(), seconds=9.0,
    )  # fmt: skip
    ledger.append(tree / "instruments.jsonl", [line])
    assert _stand(tree, proves=False)["decoys"] == "PROVED 2 of 2 caught"
    elsewhere = Instrument(
        kind="watch", name="decoys", date=TODAY, caught=2, total=2, affidavit="0.1.0", on={"liveness": "f" * 64}
    )
    ledger.append(tree / "instruments.jsonl", [elsewhere])
    assert _stand(tree)["decoys"] == "UNPROVED changed since: liveness"


# --- guards -----------------------------------------------------------------------------------------------------------

PROJECT = {
    "src/pkg/__init__.py": "from pkg.inner import clipped\n",
    "src/pkg/inner.py": (
        "import functools\n\n\n"
        "def clipped(value):\n    return min(value, 10)\n\n\n"
        "class Mask:\n    @functools.cache\n    def lit(self, role):\n        # only theirs\n"
        "        return role == 'assistant'\n"
    ),
    "tests/test_pkg.py": (
        "import pytest\nfrom pkg import clipped\nfrom pkg.inner import Mask\n\n\n"
        '@pytest.mark.guards("pkg:clipped", property="it is clipped")\n'
        "def test_clipped():\n    assert clipped(11) == 10 and clipped(3) == 3\n\n\n"
        "class TestMask:\n"
        '    @pytest.mark.guards("pkg.inner:Mask.lit")\n'
        "    def test_lit(self):\n        assert Mask().lit('assistant')\n        assert not Mask().lit('user')\n"
    ),
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    root = tmp_path / "suite"
    for name, text in PROJECT.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_a_guard_is_found_as_text_with_the_digests_that_the_plugin_writes(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = guards.declared(suite, files.listed(suite))
    names = {
        "tests/test_pkg.py::test_clipped guards pkg:clipped",
        "tests/test_pkg.py::TestMask::test_lit guards pkg.inner:Mask.lit",
    }
    assert {one.name for one in found} == names
    before = bytes_of(suite)
    said, why = guards.prove(found, suite, Path(sys.executable), os.environ, 60)
    assert why == "" and bytes_of(suite) == before, "it is proved on a copy"
    assert {one.name: one.on for one in said} == {one.name: dict(one.on) for one in found}
    assert {one.word for one in said} == {"PROVED"} and all(0 < one.seconds < 5 for one in said)

    settings = Settings(root=suite)
    ledger.append(suite / "instruments.jsonl", said)
    rows = _guard_rows(settings, proves=False)
    assert rows == dict.fromkeys(names, "PROVED ")
    inner = suite / "src/pkg/inner.py"
    inner.write_text(inner.read_text().replace("value, 10", "10, value"))
    changed = {**rows, "tests/test_pkg.py::test_clipped guards pkg:clipped": "UNPROVED changed since: function"}
    assert _guard_rows(settings, proves=False) == changed
    assert set(_guard_rows(settings, proves=True)) == names
    assert _guard_rows(settings, proves=False)["tests/test_pkg.py::test_clipped guards pkg:clipped"] == "PROVED "
    inner.write_text(inner.read_text().replace("10, value", "value, 10"))
    monkeypatch.setattr(standing, "PYTEST_SECONDS", 0.01)
    told = _guard_rows(settings, proves=True)["tests/test_pkg.py::test_clipped guards pkg:clipped"]
    assert told == "UNPROVED no end within 0.01 s"
    (suite / "tests/test_pkg.py").unlink()
    assert _guard_rows(settings, proves=False) == {}, "a guard that is gone is nobody's to prove"


def _guard_rows(settings: Settings, *, proves: bool) -> Mapping[str, str]:
    inquiry = Inquiry(as_of=datetime.datetime.now(datetime.UTC).date(), proves=proves, python=Path(sys.executable))
    proofs, _ = standing_facts(settings, (), os.environ, inquiry)
    assert isinstance(proofs.state, Known) and isinstance(proofs.state.value, Table)
    return {str(row["name"]): f"{row['word']} {row['why']}" for row in proofs.state.value.records()}


@pytest.mark.parametrize("text", ["def (", "\x00", "@pytest.mark.guards()\ndef test_a(): ...\n", "# mark.guards(\n"])
def test_a_test_file_that_says_nothing_readable_declares_no_guard(tmp_path: Path, text: str) -> None:
    (tmp_path / "test_a.py").write_text(text)
    (tmp_path / "test_b.py").write_bytes(b"\xff mark.guards(")
    assert guards.declared(tmp_path, ["test_a.py", "test_b.py", "test_gone.py"]) == ()


def test_a_guard_that_nobody_proved_or_whose_function_is_nowhere_is_unproved(suite: Path) -> None:
    (suite / "src/pkg/inner.py").unlink()
    assert set(_guard_rows(Settings(root=suite), proves=False).values()) == {"UNPROVED never proved"}


def test_a_suite_whose_root_is_elsewhere_is_recognised(suite: Path) -> None:
    (guard,) = [one for one in guards.declared(suite, files.listed(suite)) if "clipped" in one.target]
    line = Instrument(
        kind="guard", name="test_pkg.py::test_clipped guards pkg:clipped", date=TODAY, caught=1, total=1,
        affidavit="0.1.0", on=dict(guard.on),
    )  # fmt: skip
    assert guards.held(guard, ledger.Ledger(instruments=(line,))) == line
    assert guards.held(guard, ledger.Ledger(instruments=(Instrument(
        kind="guard", name="other_test_pkg.py::test_clipped guards pkg:clipped", date=TODAY, caught=1, total=1,
        affidavit="0.1.0"),))) is None  # fmt: skip


def test_a_check_has_another_digest_when_what_it_imports_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_id = {check.id: check for check in load_checks(house_checks, load_vocabulary())}
    assert len({digest_of(check) for check in by_id.values()}) == len(by_id)
    check = by_id["tree-is-committed"]
    before = digest_of(check)
    copy = tmp_path / "checks"
    copy.mkdir()
    for name in ("tree_is_committed", "code_is_committed"):
        (copy / f"{name}.py").write_bytes((Path(house_checks.__file__).parent / f"{name}.py").read_bytes())
    monkeypatch.setattr(sys.modules[check.judge.__module__], "__file__", str(copy / "tree_is_committed.py"))
    assert digest_of(check) == before
    (copy / "code_is_committed.py").write_text("ALLOWED = ()\n")
    assert digest_of(check) != before


def test_an_observer_is_proved_by_a_fact_that_moved_and_not_by_one_that_always_does() -> None:
    contrast = observers.Contrast(frozenset({"attention.kernels", "adapter.kind"}))
    twin = case_of(run={"attention.kernels": ("flash",), "adapter.kind": "none", "loader.sampler": "a"})
    fault = case_of(run={"attention.kernels": ("math",), "adapter.kind": "none", "loader.sampler": "b"})
    contrast.add(twin.subject, is_fault=False)
    assert contrast.moved == frozenset(), "nothing is known of a fault yet"
    contrast.add(twin.subject, is_fault=True)
    assert contrast.moved == frozenset(), "a fault that looks like its twin proves nothing"
    contrast.add(fault.subject, is_fault=True)
    emits = {"attention": ("attention.kernels",), "adapter": ("adapter.kind",), "loader": ("loader.sampler",)}
    (line,) = observers.proved([contrast], emits, TODAY)
    assert (line.kind, line.name, line.word, line.is_proof) == ("observer", "attention", "PROVED", True)
    assert line.says == "moved between a fault and its twin: attention.kernels" and line.on == standing.observer_code()
