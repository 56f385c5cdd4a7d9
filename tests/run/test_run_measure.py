"""A number is kept with what it was true of; what failed, what is old and what is two numbers was not measured."""

from __future__ import annotations

import datetime
import math
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
from _pytest.monkeypatch import MonkeyPatch

import affidavit
from affidavit.fact.errors import AffidavitError
from affidavit.record import covered
from affidavit.record.manifest import Status
from affidavit.record.measurement import AS_COMMITTED, CHANGED, NO_REPOSITORY, read
from affidavit.record.record import Kind
from affidavit.run.attempt import Ended, Start, claim, write_ended
from affidavit.run.measure import identity
from affidavit.run.measure.command import Order, measure
from affidavit.run.measure.device import device
from affidavit.run.measure.error import MeasureError, StoppedError
from affidavit.run.measure.number import Number, number_of
from affidavit.run.measure.reading import Printed, Reading, Wall, Written, mark, read_value
from affidavit.run.process import myself
from affidavit.run.scheduler import scheduler

SCRIPT = "import sys, time\n\ndef rebuild():\n    return 145.5\n\nprint(f'took {rebuild()} s')\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    """A repository with one script, in which a person stands."""
    (tmp_path / "encode.py").write_text(SCRIPT)
    (tmp_path / ".gitignore").write_text("__pycache__\n")
    for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "x")):
        author = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("AFFIDAVIT_LAUNCH", raising=False)
    return tmp_path


def order(*argv: str, **more: object) -> Order:
    words = {"name": "encode-cache-rebuild", "unit": "s", "reading": Wall(unit="s"), **more}
    return Order(argv=argv or (sys.executable, "encode.py"), **words)  # type: ignore[arg-type]


def test_a_command_is_measured_with_all_that_it_was_true_of(project: Path) -> None:
    """Bound: one process of Python, which takes well over a millisecond and under a minute."""
    argv = (sys.executable, "encode.py", "--token", "hf_" + "a1B2" * 8)
    found = measure(order(*argv, repeats=4, warm_up=1, covers=("encode:rebuild",), seat="cold"), project=project)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=project, capture_output=True, text=True, check=True)
    assert 0.001 < found.value < 60 and (found.n, found.spread_is) == (4, "iqr")
    assert (found.commit, found.tree, found.seat) == (head.stdout.strip(), AS_COMMITTED, "cold")
    assert found.command == (*argv[:3], "[redacted]")
    assert found.code == {"encode.py:rebuild": covered.digest_of("encode.py:rebuild", project)}
    assert int(found.device["cores"]) >= 1 and found.device["system"]
    assert found.packages["python"].startswith("3.") and "packages, sha256:" in found.packages["others"]


def test_a_number_is_dated_when_it_is_known(project: Path) -> None:
    reading = Printed(pattern=re.compile(r"\d+\.\d+"))
    found = measure(order(sys.executable, "-c", "import time; print(time.time())", reading=reading), project=project)
    assert found.date.timestamp() >= found.value, "what is taken back meanwhile has been measured again"


def test_the_tree_is_told_as_it_is(project: Path) -> None:
    (project / "encode.py").write_text(SCRIPT + "# more\n")
    assert measure(order(), project=project).tree == CHANGED
    subprocess.run(["rm", "-rf", ".git"], cwd=project, check=True)
    found = measure(order(), project=project)
    assert (found.commit, found.tree) == ("", NO_REPOSITORY)


def test_a_command_that_fails_measures_nothing(project: Path) -> None:
    (project / "encode.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(MeasureError, match="saw exit code 3"):
        measure(order(), project=project)
    assert not (project / "measurements.jsonl").exists()


def test_code_that_is_edited_meanwhile_was_not_measured(project: Path) -> None:
    (project / "encode.py").write_text(SCRIPT + "open('encode.py', 'a').write('\\nrebuild = None\\n')\n")
    with pytest.raises(MeasureError, match=r"edited meanwhile: encode\.py:rebuild"):
        measure(order(covers=("encode.py:rebuild",)), project=project)


def test_the_run_that_was_measured_is_named(project: Path, monkeypatch: MonkeyPatch) -> None:
    run = project / ".affidavit/runs/run-7"
    (project / "encode.py").write_text(f"import pathlib\npathlib.Path({str(run)!r}).mkdir(parents=True)\n"
                                       f"pathlib.Path({str(run / 'hello')!r}).touch()\n")  # fmt: skip
    assert measure(order(), project=project).run == "run-7"


def test_a_run_of_somebody_else_is_not_what_was_measured(project: Path) -> None:
    def began(name: str, *command: str, ended: bool) -> None:
        folder = project / ".affidavit/runs" / name
        folder.mkdir(parents=True)
        at = datetime.datetime.now(datetime.UTC)
        start = Start(
            run=name, number=0, task=0, kind=Kind.RUN, recipe="", command=command, cwd="", project="", spool="",
            supervisor=myself(), scheduler=scheduler({}), started=at,
        )  # fmt: skip
        assert claim(folder, start)
        if ended:
            write_ended(folder, start, Ended(status=Status.FINISHED, code=0, signal=0, ended=at))

    argv = ("affidavit", "run", "--", "python", "train.py", "out")
    began("before", "python", "train.py", "out", ended=True)
    since = identity.known_runs(project)
    assert identity.run_since(since, project, argv) == ""
    began("goes-on", "python", "other.py", ended=False)
    assert identity.run_since(since, project, argv) == "", "whoever trains beside us trains on"
    began("over", "python", "inner.py", ended=True)
    assert identity.run_since(since, project, ("sh", "launch.sh")) == "over"
    began("ours", "python", "train.py", "out", ended=True)
    began("theirs", "python", "train.py", "out", "--resume", ended=True)
    assert identity.run_since(since, project, argv) == "ours"


@pytest.mark.parametrize(
    ("reading", "printed", "value"),
    [
        (Wall(unit="ms"), b"", 250.0),
        (Printed(pattern=re.compile(r"took ([\d.,]+) s")), b"took 15,480 s", 15480.0),
        (Printed(pattern=re.compile(r"\d+ rows")), b"7 rows", "no number"),
        (Printed(pattern=re.compile(r"(\d+) rows")), b"7 rows, 8 rows", "'7', '8'"),
        (Printed(pattern=re.compile(r"(\d+) rows")), b"7 rows, 7 rows", 7.0),
        (Printed(pattern=re.compile(r"(\d+) rows")), b"\xff", "nothing that matches"),
        (Written(key="found.0.s"), b'{"found": [{"s": 3}]}', 3.0),
        (Written(key="found.s"), b'{"found": {"s": true}}', "True"),
        (Printed(pattern=re.compile(r"([\d.,]+) s")), b"0,5 s", "'0,5'"),
        (Printed(pattern=re.compile(r"([\d.,_]+) s")), b"1,234,567.5 s", 1234567.5),
        (Printed(pattern=re.compile(r"([\d.,_]+) s")), b"1_000 s", 1000.0),
        (Written(key="found.t"), b'{"found": {"s": 1}}', "no 't' among 's'"),
        (Written(key="found.7"), b'{"found": [1]}', "no '7' in a list"),
        (Written(key="arc.acc,none.v1.5"), b'{"arc": {"acc,none.v1": {"5": 3}}}', 3.0),
        (Written(key="s"), b'loading\n{"s": 1}\n{"s": 3}\n\n', 3.0),
        (Written(key="s"), b'{"s": 3}\nended', "JSONDecodeError"),
        (Written(key="s"), b"loading\n7\n", "JSONDecodeError"),
        (Written(key="a"), b"[" * 60_000, "RecursionError"),
        (Written(key="a"), b'{"a": 1' + b"0" * 400 + b"}", "1000"),
        (Written(key="a"), b"\xff", "JSONDecodeError"),
        (Written(key="a", file=Path("/nowhere/a.json")), b"", "No such file"),
    ],
)
def test_where_the_number_is(reading: Reading, printed: bytes, value: float | str) -> None:
    if isinstance(value, float):
        assert read_value(reading, seconds=0.25, printed=printed) == value
        return
    with pytest.raises(MeasureError) as refused:
        read_value(reading, seconds=0.25, printed=printed)
    assert value in str(refused.value) or value == "no number"


def test_what_is_not_read_is_passed_on_at_once(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    warns = "import sys; print('Warning: {', file=sys.stderr); print('{\"s\": 3}')"
    assert measure(order(sys.executable, "-c", warns, reading=Written(key="s")), project=project).value == 3
    assert capfd.readouterr().err.splitlines() == ["Warning: {", '{"s": 3}']


COUNTED = """
import os, pathlib, signal, sys, time
runs = pathlib.Path("runs")
print(len(runs.read_text()) if runs.exists() else 0, "rows")
runs.open("a").write("x")
if len(runs.read_text()) == 4:
    %s
"""


def test_what_earlier_runs_gave_is_said_when_one_fails(project: Path) -> None:
    (project / "encode.py").write_text(COUNTED % "raise SystemExit(7)")
    rows = {"unit": "rows", "reading": Printed(pattern=re.compile(r"\d+(?= rows)")), "repeats": 5, "warm_up": 1}
    with pytest.raises(MeasureError, match=r"saw exit code 7\.\n.*; the runs before it gave 1, 2 rows\. Mend"):
        measure(order(**rows), project=project)


@pytest.mark.parametrize("sent", ["TERM", "INT"])
def test_who_stops_us_stops_the_command(project: Path, sent: str) -> None:
    told = f"os.kill(os.getppid(), signal.SIG{sent}); time.sleep(60 if '{sent}' == 'TERM' else 0.2)"
    (project / "encode.py").write_text(COUNTED % (told + "; pathlib.Path('outlived').touch()"))
    with pytest.raises(StoppedError, match=r"in run 4\.\n.*the runs before it gave 0, 1, 2 rows") as stopped:
        measure(order(unit="rows", reading=Printed(pattern=re.compile(r"\d+(?= rows)")), repeats=9), project=project)
    assert stopped.value.code == 130 and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert (project / "outlived").exists() is (sent == "INT"), "Ctrl-C is the command's own to hear"


def test_a_file_of_an_earlier_run_is_no_result_of_this_one(tmp_path: Path) -> None:
    reading = Written(key="s", file=tmp_path / "r.json")
    assert mark(reading) == ()
    (tmp_path / "r.json").write_text('{"s": 1}')
    assert read_value(reading, seconds=0, printed=b"", before=()) == 1
    before = mark(reading)
    with pytest.raises(MeasureError, match="one that was there before it"):
        read_value(reading, seconds=0, printed=b"", before=before)
    (tmp_path / "r.json").write_text('{"s": 22}')
    assert read_value(reading, seconds=0, printed=b"", before=before) == 22


def test_several_values_are_a_median_and_a_spread_that_says_what_it_is() -> None:
    assert number_of([3]) == Number(value=3, spread=None, spread_is="", n=1)
    assert number_of([1, 3]) == Number(value=2, spread=math.sqrt(2), spread_is="sd", n=2)
    assert number_of([1, 2, 3, 4, 100]) == Number(value=3, spread=2, spread_is="iqr", n=5)
    for none in ([], [math.nan], [1.0, math.inf]):
        with pytest.raises(MeasureError, match="finite"):
            number_of(none)


def test_a_machine_is_named_without_a_framework(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f"proc/driver/nvidia/gpus/{number}").mkdir(parents=True)
        (tmp_path / f"proc/driver/nvidia/gpus/{number}/information").write_text("Model: \t\t NVIDIA H200\nIRQ: 1\n")
    (tmp_path / "proc/cpuinfo").write_text("processor\t: 0\nmodel name\t: A Processor\n")
    found = device(tmp_path)
    assert (found["processor"], found["gpu"]) == ("A Processor", "2 × NVIDIA H200")
    seen = {said: device(tmp_path, {"CUDA_VISIBLE_DEVICES": said}).get("gpu_visible") for said in ("0,1", "", "-1")}
    assert seen == {"0,1": "0,1", "": "none", "-1": "-1"} and "gpu_visible" not in device(tmp_path, {})


def test_a_driver_that_shows_no_file_is_asked(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho NVIDIA H200\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert device(tmp_path)["gpu"] == "1 × NVIDIA H200"
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho No devices were found\nexit 6\n")
    assert "gpu" not in device(tmp_path)


def test_a_program_keeps_its_own_number(project: Path, monkeypatch: MonkeyPatch) -> None:
    sys.path.insert(0, str(project))
    try:
        import encode  # type: ignore[import-not-found]

        said = affidavit.measurement(
            "encode-cache-rebuild",
            [145, 146, 145.5],
            unit="s",
            covers=[encode.rebuild, project / "encode.py", ".gitignore"],
        )
        with pytest.raises(AffidavitError, match="Not affected"):
            affidavit.measurement("encode-cache-rebuild", 1, unit="s", covers=[len])
    finally:
        sys.path.remove(str(project))
        sys.modules.pop("encode", None)
    monkeypatch.setenv("SLURM_PROCID", "1")
    assert affidavit.measurement("encode-cache-rebuild", 1, unit="s") is None
    (kept,) = read(project / "measurements.jsonl").measured
    assert kept == said and (kept.value, kept.n, kept.spread_is) == (145.5, 3, "sd")
    assert set(kept.code) == {"encode.py:rebuild", "encode.py", ".gitignore"}


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (numpy.float32(3), (3, 1)),
        (numpy.int64(3), (3, 1)),
        (numpy.array(3.5), (3.5, 1)),
        (numpy.array([1, 2, 4]), (2, 3)),
        ((number for number in (1, 2, 4)), (2, 3)),
        ("145.5", "saw '145.5' (text)"),
        (["1"], "saw ['1'] (text)"),
        (None, "saw None"),
        ([[1, 2]], "saw [[1, 2]]"),
        (10**400, "too large"),
        (1j, "saw 1j"),
        ([], "saw none"),
    ],
)
def test_a_number_is_one_whichever_library_made_it(project: Path, value: Any, kept: tuple[float, int] | str) -> None:
    if isinstance(kept, tuple):
        found = affidavit.measurement("a-name", value, unit="s", covers="encode.py:rebuild")
        assert found is not None and (found.value, found.n) == kept and set(found.code) == {"encode.py:rebuild"}
        return
    with pytest.raises(MeasureError, match="Not affected") as refused:
        affidavit.measurement("a-name", value, unit="s")
    assert kept in str(refused.value) and not (project / "measurements.jsonl").exists()


def test_a_program_that_is_observed_names_its_run(project: Path, tmp_path: Path) -> None:
    from affidavit.attach.launch import VARIABLE, Launch

    Launch(run="run-1", folder="a", spool="b").write(tmp_path / "launch.json")
    assert identity.run_around({VARIABLE: str(tmp_path / "launch.json")}) == "run-1"
    assert identity.run_around({VARIABLE: str(tmp_path / "none.json")}) == identity.run_around({}) == ""


def test_a_command_line_is_told_without_the_paths_of_this_machine(tmp_path: Path) -> None:
    home = Path.home()
    argv = (f"{tmp_path}/.venv/bin/python", f"--out={tmp_path}/runs", f"{home}/a.py", "/elsewhere/b.py")
    assert identity.told_command(argv, tmp_path) == (".venv/bin/python", "--out=runs", "~/a.py", "/elsewhere/b.py")
