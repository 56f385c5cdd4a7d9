"""``watch`` and the drills of its alarms: one word, one exit code, and what rings when the word changes."""

from __future__ import annotations

import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.desk import Desk

from affidavit.attach.heartbeat import read
from affidavit.record import ledger
from affidavit.run.liveness import alarm, decoys
from affidavit.run.liveness.decoy import Decoy, made
from affidavit.run.liveness.decoys import Called, Drill
from affidavit.run.liveness.verdict import Liveness
from affidavit.run.proofs.standing import watch_code


@pytest.fixture
def decoy(tmp_path: Path) -> Iterator[Decoy]:
    """A run that takes steps until it is told to deadlock."""
    with made(tmp_path / "decoy", kind="deadlock", is_alone=False) as found:
        beating(found)
        yield found


def beating(decoy: Decoy) -> None:
    """Wait until it has taken some steps."""
    wait_for(lambda: any(beat is not None and beat.step > 3 for beat in map(read, decoy.spool.glob("heartbeat.*"))))


def wait_for(ready: Callable[[], object], *, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain"
        time.sleep(0.02)


def stop(decoy: Decoy) -> None:
    assert decoy.process is not None
    os.kill(decoy.process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, decoy.process.pid, os.WSTOPPED | os.WNOWAIT)  # a signal takes a moment


# --- one word ---------------------------------------------------------------------------------------------------------


def test_the_word_and_the_exit_code(project: Desk, decoy: Decoy) -> None:
    said = project.type("watch", str(decoy.folder))
    assert said.exit_code == 0 and said.stdout.startswith("ALIVE  decoy: rank 0")
    stop(decoy)
    said = project.type("watch", str(decoy.folder))
    assert said.exit_code == 1 and "STOPPED  decoy: the command" in said.stdout
    document = project.document("watch", str(decoy.folder))
    assert (document["verdict"], document["exit_code"], document["is_over"]) == ("STOPPED", 1, False)
    assert document["ranks"][0]["state"] == "stopped" and document["ranks"][0]["step"] > 0


def test_within_is_a_limit_for_scripts(project: Desk, decoy: Decoy) -> None:
    decoy.let_go()
    time.sleep(1.2)
    assert project.type("watch", str(decoy.folder)).exit_code == 0, "a step may take longer than that"
    said = project.type("watch", str(decoy.folder), "--within", "1")
    assert said.exit_code == 1 and said.stdout.startswith("STALLED")


@pytest.mark.parametrize("seconds", ["0", "-3", "inf", "nan"])
def test_a_limit_that_can_never_ring_is_refused(project: Desk, decoy: Decoy, seconds: str) -> None:
    said = project.type("watch", str(decoy.folder), f"--within={seconds}")
    assert said.exit_code == 2 and "can never ring" in said.stderr and said.stdout == ""


def test_a_run_that_is_over_and_one_that_is_none(project: Desk) -> None:
    assert project.train().returncode == 0
    said = project.type("watch")
    assert said.exit_code == 0 and said.stdout.startswith("FINISHED")
    assert project.type("watch", "nothing-like-it").exit_code == 2


def test_what_nobody_can_say_is_4(project: Desk, decoy: Decoy) -> None:
    for path in decoy.spool.glob("heartbeat.*"):
        path.unlink()
    said = project.type("watch", str(decoy.folder))
    assert said.exit_code == 4 and said.stdout.startswith("UNKNOWN")


# --- what rings -------------------------------------------------------------------------------------------------------


def follow(project: Desk, decoy: Decoy, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "affidavit.cli", "watch", str(decoy.folder), "--follow", "--every=0.1", *words],
        cwd=project.root,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Heard(http.server.BaseHTTPRequestHandler):
    """Keeps what it is called with; a POST of /broken fails."""

    calls: list[tuple[str, str, Any]] = []

    def do_GET(self) -> None:
        self._answer(None, 200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(json.loads(body), 500 if "broken" in self.path else 204)

    def _answer(self, body: Any, code: int) -> None:
        self.calls.append((self.command, self.path, body))
        self.send_response(code)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[str]:
    Heard.calls.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Heard) as held:
        thread = threading.Thread(target=held.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{held.server_address[1]}"
        held.shutdown()
        thread.join()


def test_each_change_rings_once_and_the_ping_comes_while_it_lives(
    project: Desk, decoy: Decoy, server: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    tell = f'echo "$AFFIDAVIT_VERDICT_BEFORE>$AFFIDAVIT_VERDICT $AFFIDAVIT_RUN" >> {log}'
    hooks = [word for verdict in ("ALIVE", "STOPPED", "dead") for word in ("--on", verdict, tell)]
    watching = follow(project, decoy, *hooks, f"--webhook={server}/hook", f"--ping={server}/ping")
    wait_for(lambda: log.exists() and len(Heard.calls) >= 2)
    time.sleep(0.5)
    stop(decoy)
    wait_for(lambda: "STOPPED" in log.read_text())
    time.sleep(0.5)
    decoy.kill()
    decoy.say_ended()
    out, err = watching.communicate(timeout=20)
    assert watching.returncode == 1, err
    assert log.read_text().splitlines() == [">ALIVE decoy", "ALIVE>STOPPED decoy", "STOPPED>DEAD decoy"]
    posted = [body["verdict"] for method, path, body in Heard.calls if (method, path) == ("POST", "/hook")]
    assert posted == ["ALIVE", "STOPPED", "DEAD"]
    assert [path for method, path, _ in Heard.calls if method == "GET"] == ["/ping"], "once, in half a minute"
    assert [line.split()[1] for line in out.splitlines() if "  decoy: " in line] == ["ALIVE", "STOPPED", "DEAD"]


def test_no_ping_of_a_run_that_is_not_alive(project: Desk, decoy: Decoy, server: str) -> None:
    stop(decoy)
    assert project.type("watch", str(decoy.folder), f"--ping={server}/ping").exit_code == 1
    assert Heard.calls == []


def test_a_webhook_that_fails_is_said_and_changes_no_verdict(project: Desk, decoy: Decoy, server: str) -> None:
    said = project.type("watch", str(decoy.folder), f"--webhook={server}/broken?token=secret")
    assert said.exit_code == 0 and "webhook to 127.0.0.1: it answered 500" in " ".join(said.stderr.split())
    assert "secret" not in said.stderr


def test_a_host_that_never_answers_holds_up_nobody() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        began = time.monotonic()
        said = alarm.post(f"http://127.0.0.1:{deaf.getsockname()[1]}/", {}, seconds=0.5)
        assert said and time.monotonic() - began < 5


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/", "http://", "nowhere", "http://[::1"])
def test_an_address_that_is_none_is_refused_at_the_start(project: Desk, decoy: Decoy, url: str) -> None:
    for option in ("--webhook", "--ping"):
        said = project.type("watch", str(decoy.folder), option, url)
        assert said.exit_code == 2 and "expected http:// or https://" in said.stderr


def test_a_hook_that_hangs_is_cut_off_with_all_it_started(tmp_path: Path) -> None:
    began = time.monotonic()
    told = {"PLACE": str(tmp_path)}
    said = alarm.run_hook("sleep 300 & echo $! > $PLACE/pid; sleep 300", told, seconds=0.5)
    assert said == "hook: cut off after 0.5 s" and time.monotonic() - began < 10
    pid = int((tmp_path / "pid").read_text())
    wait_for(lambda: not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text())


def test_a_hook_that_fails_is_said() -> None:
    assert alarm.run_hook("exit 7", {}) == "hook: it ended with exit code 7"
    assert alarm.run_hook("exit 0", {}) == ""


# --- the drills -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("called", "code"), [(Liveness.DEAD, 0), (Liveness.ALIVE, 1)])
def test_the_ledger_keeps_a_drill_of_the_watch(
    project: Desk, monkeypatch: pytest.MonkeyPatch, called: Liveness, code: int
) -> None:
    one = Called(name="killed", how="SIGKILL", expected=Liveness.DEAD, called=called, seconds=0.1, why="it is gone")
    monkeypatch.setattr(decoys, "drill", lambda: Drill((one,), ("other namespace: not here",)))
    said = project.type("drill", "--watch")
    assert said.exit_code == code and "not shown: other namespace: not here" in said.stderr
    last = ledger.read(project.root / "instruments.jsonl").last_of("watch", "decoys")
    assert last is not None and last.is_proof is (code == 0) and last.on == watch_code()
    assert project.document("drill", "--watch")["decoys"][0]["called"] == called.value


@pytest.mark.parametrize(
    ("probe", "code"),
    [
        ("pgrep -f {}", 1),
        ("pgrep -f {} >/dev/null && echo alive || echo dead", 1),
        ("if pgrep -f {} >/dev/null; then echo alive; else echo dead; fi", 1),
        ("ps aux | grep {} | wc -l", 1),  # without the count it is a race whether ps sees the grep beside it
        ("true || test {}", 1),
        ('pgrep -f "[t]{}"', 0),
        ('pgrep -f "[t]{}" # t{}', 1),
        ('pgrep -f "$AFFIDAVIT_TARGET"', 0),
        ("kill -0 $(cat {}.pid)", 0),
        ("no-such-command {}", 4),
    ],
)
def test_a_probe_must_say_dead_of_what_cannot_exist(project: Desk, probe: str, code: int) -> None:
    said = project.type("drill", "--probe", probe)
    assert said.exit_code == code, said.stdout


def test_a_probe_that_names_no_target_is_refused(project: Desk) -> None:
    said = project.type("drill", "--probe", "pgrep -f train.py")
    assert said.exit_code == 2 and "nobody can see whether it would ever say dead" in said.stderr
    assert project.type("drill", "last", "--watch").exit_code == 2
