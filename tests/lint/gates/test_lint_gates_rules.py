"""Every rule is seen in its bad fixtures and in no good one; each verdict on a probe is that of the real shell."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from pathlib import Path

import pytest

from affidavit.lint.gates import GateReading, read_gates
from affidavit.lint.gates.rules import BY_ID, RULES

HERE = Path(__file__).parent / "fixtures"
NAMES = {".yml": ".github/workflows/ci.yml", ".mk": "Makefile", ".Dockerfile": "Dockerfile", ".txt": "run.py"}
FIXTURES = sorted(path for path in HERE.rglob("*") if path.is_file())


def read(folder: Path, text: str, suffix: str = ".sh") -> GateReading:
    path = folder / NAMES.get(suffix, "launch.sh")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return read_gates([path])


def rules_of(reading: GateReading) -> set[str]:
    return {one.rule.id for one in reading.inert}


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_fixture_is_what_it_says(tmp_path: Path, fixture: Path) -> None:
    reading = read(tmp_path, fixture.read_text(), fixture.suffix)
    said = rules_of(reading)
    assert not reading.unread
    if fixture.name.startswith("bad"):
        assert fixture.parent.name in said
    else:
        assert said == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_has_both_fixtures_and_shows_them(rule: object) -> None:
    assert rule is BY_ID[rule.id]  # type: ignore[attr-defined]
    folder = HERE / rule.id  # type: ignore[attr-defined]
    assert next(folder.glob("bad.*")).read_text() == rule.bad  # type: ignore[attr-defined]
    assert next(folder.glob("good.*")).read_text() == rule.good  # type: ignore[attr-defined]


FORMS = (
    ("bash", "pgrep -f {}"),
    ("bash", "pgrep -f {} > /dev/null"),
    ("bash", "pgrep -f {} && echo alive"),
    ("bash", "true; pgrep -f {}"),
    ("bash", "if pgrep -f {}; then exit 0; else exit 1; fi"),
    ("bash", "pgrep -f {} | grep -q ."),
    ("bash", "pgrep -f [z]{tail}; exit $?"),
    ("bash", "pgrep -f [z]{tail} && echo {}"),
    ("sh", "pgrep -f {} && echo alive"),
    ("sh", "pgrep -f [z]{tail} || exit 3"),
    ("file", "if pgrep -f {} > /dev/null; then exit 0; else exit 1; fi"),
    ("file", "if ps aux | grep {} > /dev/null; then exit 0; else exit 1; fi"),
    ("file", "if ps aux | grep {} | grep -v grep > /dev/null; then exit 0; else exit 1; fi"),
    ("argument", 'if pgrep -f "$1" > /dev/null; then exit 0; else exit 1; fi'),
    ("argument", 'NAME=$1\npgrep -f "$NAME" > /dev/null || exit 1\nexit 0'),
    ("name", "if pgrep -f {} > /dev/null; then exit 0; else exit 1; fi"),
)


@pytest.mark.parametrize(("started", "form"), FORMS)
def test_a_probe_is_said_to_find_itself_where_it_really_does(tmp_path: Path, started: str, form: str) -> None:
    target = f"z{secrets.token_hex(8)}"
    text = form.replace("{tail}", target[1:]).replace("{}", target)
    script = tmp_path / (f"{target}.sh" if started == "name" else "launch.sh")
    if started in ("bash", "sh"):
        script.write_text(f"{started} -c '{text}'\n")
        command = [started, "-c", text]
    else:
        script.write_text(text)
        # Which of a pipeline is up first is a race; a ps that waits sees what stands beside it for certain.
        started_late = tmp_path / "late" / script.name
        started_late.parent.mkdir()
        started_late.write_text(text.replace("ps aux", "{ sleep 0.3; ps aux; }"))
        command = ["bash", str(started_late), *([target] if started == "argument" else [])]
    # COLUMNS, which a test runner may set, would cut the lines of ps.
    environment = {key: value for key, value in os.environ.items() if target not in value and key != "COLUMNS"}
    said = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, timeout=20)
    assert ("self-matching-probe" in rules_of(read_gates([script]))) == (said.returncode == 0)


def test_how_a_script_is_called_is_read_in_other_files(tmp_path: Path) -> None:
    watch, caller = tmp_path / "watch.sh", tmp_path / "start.sh"
    watch.write_text("pgrep -f train.py > /dev/null && echo alive\n")
    assert not read_gates([watch]).inert
    caller.write_text("bash watch.sh train.py &\n")
    (inert,) = read_gates([watch, caller]).inert
    assert inert.rule.id == "self-matching-probe"
    assert inert.hit.is_sure


def test_a_string_of_python_and_a_crontab_are_shells(tmp_path: Path) -> None:
    script, cron = tmp_path / "watch.py", tmp_path / "crontab"
    script.write_text(
        'import subprocess\n\nsubprocess.run("pgrep -f train.py && echo alive", shell=True, check=True)\n'
    )
    cron.write_text("*/5 * * * * pgrep -f train.py || /opt/restart.sh\n")
    assert [one.path.name for one in read_gates([script, cron]).inert] == ["watch.py", "crontab"]


def test_a_comment_excuses_with_a_reason_only(tmp_path: Path) -> None:
    line = "pytest || true  # affidavit: status-or-true"
    assert not read(tmp_path, f"{line} its answer is read from the report\n").inert
    assert not read(tmp_path, f"#{line.partition('#')[2]} its answer is in the report\npytest || true\n").inert
    (inert,) = read(tmp_path, f"{line}\n").inert
    assert "gives no reason" in inert.said
    assert read(tmp_path, "pytest || true  # affidavit: left-of-and for another rule\n").inert


@pytest.mark.parametrize("text", ["", "\0", "if", "((((", "$(" * 500, "'", "é💥 || true | tee\n", "a && " * 300 + "b"])
@pytest.mark.parametrize("suffix", [".sh", *NAMES])
def test_any_text_is_read(tmp_path: Path, text: str, suffix: str) -> None:
    found = read(tmp_path, text, suffix)
    assert not found.inert, "none of these holds a gate"
    assert found.gates == 0


def test_what_is_known_is_told_from_what_is_likely(tmp_path: Path) -> None:
    (proved,) = read(tmp_path, "python honesty_check.py || true\npython train.py\n").inert
    (likely,) = read(tmp_path, "python honesty_check.py || true\n").inert
    assert (proved.hit.is_sure, likely.hit.is_sure) == (True, False)


@pytest.mark.parametrize(
    "form", ["python check_{}.py | tee x || true\n", "pytest {} &\nwait\n", "git diff --quiet {} && echo\n"]
)
def test_what_reading_costs_grows_with_the_lines_and_no_faster(tmp_path: Path, form: str) -> None:
    began = time.process_time()
    reading = read(tmp_path, "".join(form.format(number) for number in range(1500)) + "python train.py\n")
    assert len(reading.inert) == 1500
    assert time.process_time() - began < 6


@pytest.mark.parametrize(
    ("text", "is_sure"),
    [
        ('python scripts/check_memory.py || echo "WARNING: low memory"\npython train.py\n', False),
        ("bash scripts/check_gpu.sh || true\npython train.py\n", False),
        ("python preflight.py || true\npython train.py\n", True),
        ("bash verify_data.sh || true\npython train.py\n", True),
        ("pytest || true\n", True),
        ("if python check_gpu.py; then echo ok; fi\npython train.py\n", False),
        ("python train.py | tee train.log\npython eval.py\n", False),
    ],
)
def test_what_may_only_warn_is_likely_and_what_must_hold_is_sure(tmp_path: Path, text: str, is_sure: bool) -> None:
    (inert,) = read(tmp_path, text).inert
    assert inert.hit.is_sure is is_sure


@pytest.mark.parametrize(
    ("options", "is_inert"), [("-c", True), ("-e -c", True), ("-eo pipefail -c", False), ("-e -o pipefail -c", False)]
)
def test_a_command_line_has_the_options_of_its_shell(tmp_path: Path, options: str, is_inert: bool) -> None:
    argv = ["/bin/bash", *options.split(), "pytest | tee a; python train.py"]
    assert bool(read_gates([], argv, tmp_path).inert) is is_inert
