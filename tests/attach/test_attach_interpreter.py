"""An interpreter that we attach to starts, runs and ends as it would alone; only ``hello`` tells that we were there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from twice import SHADOW, Ran, Runner

from affidavit.attach.launch import VARIABLE

LOOK = """
import json, sys
mine = sys.modules.get("sitecustomize")
print(json.dumps({
    "path": sys.path,
    "sitecustomize": mine and mine.__file__,
    "ran": getattr(sys, "ran", 0),
    "argv": sys.argv,
    "flags": repr(sys.flags),
    "hooks": [getattr(hook, "__qualname__", "?") for hook in sys.path_hooks],
    "warnings": repr(sys.warnoptions),
}))
"""
COUNTED = "import sys\nsys.ran = getattr(sys, 'ran', 0) + 1\n"


def _both(runner: Runner, *command: str, **how: object) -> tuple[Ran, Ran]:
    return runner.bare(*command, **how), runner.observed(*command, **how)


def _same(bare: Ran, observed: Ran) -> None:
    assert observed.returncode == bare.returncode, observed.stderr
    assert observed.stdout == bare.stdout
    assert observed.stderr == bare.stderr


def _shadowless(looked: dict[str, object]) -> dict[str, object]:
    """Ours takes the place of none at all, so that the module that is being imported is there when its import ends."""
    if looked["sitecustomize"] == str(SHADOW / "sitecustomize.py"):
        looked["sitecustomize"] = None
    return looked


def test_a_plain_interpreter_is_as_it_was(fresh_runner: Runner) -> None:
    bare, observed = _both(fresh_runner, "-c", LOOK)
    assert str(SHADOW) not in observed.said["path"]  # type: ignore[operator]
    assert _shadowless(observed.said) == bare.said
    assert observed.stderr == bare.stderr == ""
    assert json.loads((observed.spool / "hello").read_text())["executable"] == sys.executable
    assert observed.journals == ()


def test_the_environments_own_sitecustomize_runs_once(fresh_runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "sitecustomize.py").write_text(COUNTED)
    bare, observed = _both(fresh_runner, "-c", LOOK, environment={"PYTHONPATH": str(tmp_path / "theirs")})
    assert bare.said["ran"] == 1
    assert observed.said == bare.said
    assert (observed.spool / "hello").exists()


@pytest.mark.parametrize(
    "theirs",
    [
        "raise ValueError('theirs')",
        "import no_such_module",
        "import sys; sys.stderr.write('hello from theirs\\n')",
        "import os; os._exit(7)",
        "def broken(:",
    ],
)
def test_what_their_sitecustomize_does_wrong_is_seen_as_before(
    fresh_runner: Runner, tmp_path: Path, theirs: str
) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "sitecustomize.py").write_text(theirs + "\n")
    _same(*_both(fresh_runner, "-c", "print(1)", environment={"PYTHONPATH": str(tmp_path / "theirs")}))


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_where_nothing_attaches_nothing_breaks(fresh_runner: Runner, flag: str) -> None:
    bare, observed = _both(fresh_runner, flag, "-c", "import sys; print(sorted(sys.modules))")
    _same(bare, observed)
    assert not (observed.spool / "hello").exists()


def test_a_removed_working_folder_is_theirs_to_bear(fresh_runner: Runner, tmp_path: Path) -> None:
    start = f'mkdir -p "{tmp_path}/gone" && cd "{tmp_path}/gone" && rmdir "{tmp_path}/gone" && exec "$@"'
    code = "import json\ntry:\n    open('some.yaml')\nexcept OSError as error:\n    print(json.dumps(repr(error)))"
    bare, observed = _both(fresh_runner, "-c", code, before=("sh", "-c", start, "sh"))
    _same(bare, observed)
    assert "No such file" in bare.stdout
    assert (observed.spool / "hello").exists()


def test_a_pipe_that_is_named_like_a_config_keeps_what_it_holds(fresh_runner: Runner, tmp_path: Path) -> None:
    pipe = tmp_path / "settings.yaml"
    os.mkfifo(pipe)
    code = (
        "import os, sys, json\n"
        "if os.fork() == 0:\n"
        "    with open(sys.argv[1], 'w') as file: file.write('rate: 1')\n"
        "    os._exit(0)\n"
        "print(json.dumps(open(sys.argv[1]).read()))\n"
    )
    bare, observed = _both(fresh_runner, "-W", "ignore", "-c", code, str(pipe))
    assert bare.said == "rate: 1"
    _same(bare, observed)


@pytest.mark.parametrize("launch", ["missing/launch.0.json", "garbage.json"])
def test_a_stale_launch_file_costs_nothing(tmp_path: Path, launch: str) -> None:
    (tmp_path / "garbage.json").write_text("{")
    environment = {**os.environ, VARIABLE: str(tmp_path / launch), "PYTHONPATH": str(SHADOW)}
    ended = subprocess.run(
        [sys.executable, "-c", "print(1)"], env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1\n", "")


def test_an_error_of_ours_at_the_start_is_written_down_and_never_raised(tmp_path: Path) -> None:
    """The early half is bent, in a copy of the package."""
    site = tmp_path / "package/attach/site"
    site.mkdir(parents=True)
    (site / "sitecustomize.py").write_text((SHADOW / "sitecustomize.py").read_text())
    (site.parent / "early.py").write_text("raise RuntimeError('bent')")
    environment = {**os.environ, VARIABLE: str(tmp_path / "launch.0.json"), "PYTHONPATH": str(site)}
    ended = subprocess.run(
        [sys.executable, "-c", "print(1)"], env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1\n", "")
    assert (tmp_path / "hello.refused").read_text() == "RuntimeError: bent\n"


def test_children_are_reached_and_one_hello_is_made(fresh_runner: Runner) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(2)'], check=True); print(1)"
    bare, observed = _both(fresh_runner, "-c", code)
    _same(bare, observed)
    assert sorted(path.name for path in observed.spool.iterdir()) == ["hello", "launch.0.json"]


def test_an_executable_with_quotes_in_its_name_is_still_json(tmp_path: Path) -> None:
    odd = tmp_path / 'py"th\\on'
    odd.symlink_to(sys.executable)
    environment = {**os.environ, VARIABLE: str(tmp_path / "launch.0.json"), "PYTHONPATH": str(SHADOW)}
    subprocess.run([str(odd), "-c", ""], env=environment, check=True)
    assert json.loads((tmp_path / "hello").read_text())["executable"].endswith('py"th\\on')
