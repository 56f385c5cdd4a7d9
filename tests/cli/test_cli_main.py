"""Whatever happens becomes one message and one exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from tests.cli.desk import Desk

import affidavit
from affidavit.cli import ls
from affidavit.cli.main import VERBS, command
from affidavit.fact.errors import AffidavitError

FLAGS = {
    "run": (
        *("--gate", "--help", "--names", "--numbers", "--reason", "--recipe", "--stop-on", "--strict", "--tokens"),
        "--tree",
    ),
    "lint": ("--against", "--help", "--json", "--notes", "--python", "--refs", "--sarif", "--strict"),
    "claims": ("--help",),
    "preflight": ("--help", "--recipe", "--steps", "--strict"),
    "check": ("--help", "--json", "--project", "--strict"),
    "watch": ("--every", "--follow", "--help", "--json", "--on", "--ping", "--webhook", "--within"),
    "ls": ("--help", "--json", "--limit"),
    "show": ("--facts", "--help", "--implied", "--json"),
    "tokens": ("--full", "--help", "--json", "--rank", "--rows", "--training"),
    "report": ("--help", "--output", "--share"),
    "diff": ("--all", "--help", "--json"),
    "accept": ("--dry-run", "--help", "--json"),
    "attest": ("--again", "--help", "--json", "--list"),
    "measure": (
        "--covers",
        "--help",
        "--import-benchmark",
        "--import-hyperfine",
        "--json",
        "--note",
        "--read",
        "--read-json",
        "--repeats",
        "--seat",
        "--unit",
        "--warm-up",
    ),
    "retract": ("--author", "--dry-run", "--help", "--json", "--why"),
    "annotate": (
        "--author",
        "--by",
        "--falls",
        "--help",
        "--json",
        "--kind",
        "--reason",
        "--reviewed-nothing-else",
        "--survives",
        "--why",
    ),
    "correct": (
        "--author",
        "--falls",
        "--help",
        "--json",
        "--reviewed-nothing-else",
        "--section",
        "--survives",
        "--why",
    ),
    "verify": ("--help", "--json", "--key"),
    "key": ("--help",),
    "cache": ("--help",),
    "whence": ("--help", "--json"),
    "adopt": ("--help", "--json", "--name"),
    "drill": ("--gates", "--help", "--json", "--probe", "--python", "--watch", "--world"),
    "explain": ("--checks", "--help", "--json", "--terms"),
    "stamp": ("--help", "--json"),
    "doctor": ("--help", "--json", "--python"),
    "demo": ("--help", "--keep", "--quick"),
}
"""The verbs and their options. A change here is a change for everybody who has a script; say so in the changelog."""


def typed(*words: str) -> Result:
    return CliRunner().invoke(command, words)


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> Result:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(ls.command, "callback", fail)
    return typed("ls")


def test_the_verbs_and_their_options_are_the_ones_that_people_have_in_scripts() -> None:
    context = click.Context(command)
    found = {}
    for verb in command.list_commands(context):
        held = command.get_command(context, verb)
        assert held is not None
        options = {name for parameter in held.get_params(click.Context(held)) for name in parameter.opts}
        found[verb] = tuple(sorted(name for name in options if name.startswith("--")))
    assert found == FLAGS


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_an_example(verb: str) -> None:
    ended = typed(verb, "--help")
    assert ended.exit_code == 0
    assert f"  Example:\n    affidavit {verb}" in ended.output
    assert len(ended.output.splitlines()) > 8


def test_the_list_of_verbs_cuts_no_sentence_short() -> None:
    said = CliRunner(env={"COLUMNS": "80"}).invoke(command, ["--help"]).output
    lines = [line for line in said.splitlines() if line.startswith("  ") and line.split()[0] in VERBS]
    assert len(lines) == len(VERBS)
    assert [line for line in lines if not line.endswith(".") or line.endswith("...")] == []


def test_the_version_is_told_without_importing_a_verb() -> None:
    asked = (
        "import sys; sys.argv = ['affidavit', '--version']\n"
        "from affidavit.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0, end.code\n"
        "print(sorted(name for name in sys.modules if name.startswith(('affidavit.', 'rich', 'msgspec'))))"
    )
    ended = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    version, loaded = ended.stdout.splitlines()
    assert version == f"affidavit {affidavit.__version__}"
    assert "'affidavit.cli.main'" in loaded
    assert all(name not in loaded for name in ("affidavit.cli.run", "affidavit.record", "rich", "msgspec"))


def test_a_verb_that_does_not_exist_names_the_nearest() -> None:
    ended = typed("tokns")
    assert ended.exit_code == 2
    assert 'there is no command "tokns"' in ended.output and 'Did you mean "affidavit tokens"' in ended.output
    assert 'Run "affidavit --help"' in typed("zzz").output


def test_what_the_reader_can_mend_ends_with_2_and_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = raising(monkeypatch, AffidavitError("lock: expected this, saw \x1b[31mthat\x1b[0m."))
    assert ended.exit_code == 2
    assert ended.stderr == "lock: expected this, saw \\x1b[31mthat\\x1b[0m.\n"


def test_our_crash_ends_with_3_and_keeps_the_trace_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = raising(monkeypatch, KeyError("a defect"))
    assert ended.exit_code == 3
    assert "Traceback" not in ended.output and "KeyError" in ended.stderr
    (trace,) = tmp_path.glob("affidavit-crash-*.txt")
    assert str(trace) in ended.stderr
    assert "Traceback" in trace.read_text() and "in fail" in trace.read_text()


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    assert raising(monkeypatch, KeyboardInterrupt()).exit_code == 130


def test_a_reader_who_has_seen_enough_is_no_crash(trained: Desk) -> None:
    words = [sys.executable, "-m", "affidavit.cli", "explain", "--terms"]
    with subprocess.Popen(
        words, cwd=trained.root, env=trained.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as ended:
        assert ended.stdout is not None and ended.stderr is not None
        ended.stdout.close()
        assert ended.wait(30) == 141
        assert ended.stderr.read() == b""


def test_a_terminal_without_our_letters_gets_ascii_and_no_error(trained: Desk) -> None:
    ended = trained.start("show", PYTHONIOENCODING="ascii")
    assert ended.returncode == 0 and ended.stdout.isascii()
    assert "+ 4.3" in ended.stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_stops_no_command_and_stays_closed_for_it(project: Desk, closed: str) -> None:
    look = (
        "import os, sys; told = [os.path.exists(f'/dev/fd/{number}') for number in range(3)]; "
        "open(sys.argv[1], 'w').write(str(told))"
    )
    told = []
    for name, before in (("bare", ()), ("ours", ("-m", "affidavit.cli", "run", "--tree=allow", "--reason=x", "--"))):
        words = [sys.executable, *before, *((sys.executable,) if before else ()), "-c", look, name]
        asked = ["sh", "-c", f'exec "$@" {closed}', "sh", *words]
        ended = subprocess.run(asked, cwd=project.root, env=project.environment, check=False, timeout=60)
        assert ended.returncode == 0
        told.append((project.root / name).read_text())
    assert "False" in told[0] and told[0] == told[1]
    assert len(project.run_ids) == 1
