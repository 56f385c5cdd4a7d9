"""Runs training scripts in forks of one process that has imported the frameworks already: seconds become tenths.

The true path is kept: the server starts through the shadow ``sitecustomize``, so finder and adapters are in place
before torch is imported, and every case attaches with a launch file of its own. What differs from a fresh process is
``attach_again``, and it lives here because only tests fork an interpreter that has attached but not trained.

    with Server(folder) as server:
        ended = server.run(script, arguments, launch=launch_file)

Blind to: import order, whatever a script does to a framework before it is imported, and the frozen objects of the
server, which `gc` no longer lists. A test of those starts a process.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parents[2]
SHADOW = ROOT / "src/affidavit/attach/site"
SCRIPTS = ROOT / "src/affidavit/demo/scripts"
FRAMEWORKS = ("torch", "transformers", "transformers.trainer", "trl", "trl.trainer.sft_trainer", "peft", "datasets")
POLL_SECONDS = 0.02


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a case ended; ``returncode`` is negative for a signal, as in subprocess."""

    returncode: int
    stdout: str
    stderr: str


class Server:
    """The test's side: starts the server in ``folder`` and hands it cases. One after the other, or several at once.

    The frameworks are those of ``interpreter``, in which Affidavit need not be installed.
    """

    def __init__(self, folder: Path, *, interpreter: Path = Path(sys.executable)) -> None:
        self._folder = folder
        self._cases = 0
        self._ended: dict[int, int] = {}
        neutral = folder / "launch.0.json"
        neutral.write_text(json.dumps({"run": "nothing", "folder": str(folder), "spool": str(folder), "format": 1}))
        environment = {
            **os.environ,
            "AFFIDAVIT_LAUNCH": str(neutral),
            "PYTHONPATH": os.pathsep.join(map(str, (SHADOW, SCRIPTS))),
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
        }
        self._log = (folder / "server.log").open("wb")
        self._process = subprocess.Popen(
            [str(interpreter), __file__],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate(timeout=60)
        self._log.close()

    def start(
        self,
        script: Path,
        arguments: tuple[str, ...] = (),
        *,
        launch: Path,
        environment: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> int:
        """Start a case and return its number; ranks of one run are several cases with their own environment."""
        self._cases += 1
        case = {
            "number": self._cases,
            "script": str(script),
            "arguments": list(arguments),
            "launch": str(launch),
            "environment": environment or {},
            "cwd": str(cwd or script.parent),
            "output": str(self._folder / f"case.{self._cases}"),
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        return self._cases

    def wait(self, case: int) -> Ended:
        """Return how a case ended, once it has."""
        assert self._process.stdout is not None
        while case not in self._ended:
            line = self._process.stdout.readline()
            if not line:
                raise RuntimeError(f"the server died: {(self._folder / 'server.log').read_text()[-2000:]}")
            said = json.loads(line)
            self._ended[said["number"]] = said["returncode"]
        output = self._folder / f"case.{case}"
        return Ended(
            returncode=self._ended[case],
            stdout=output.with_suffix(f".{case}.out").read_text(),
            stderr=output.with_suffix(f".{case}.err").read_text(),
        )

    def run(
        self,
        script: Path,
        arguments: tuple[str, ...] = (),
        *,
        launch: Path,
        environment: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Ended:
        return self.wait(self.start(script, arguments, launch=launch, environment=environment, cwd=cwd))


# --- the server's side ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Case:
    """What the test asked for, as it came through the pipe."""

    number: int
    script: str
    arguments: list[str]
    launch: str
    environment: dict[str, str]
    cwd: str
    output: str


def serve() -> Case | None:
    """Fork for each case until the pipe closes; in the fork, return the case that is to run."""
    running: dict[int, int] = {}
    listening = True
    buffer = b""
    while listening or running:
        ready, _, _ = select.select([0] if listening else [], [], [], POLL_SECONDS)
        if ready:
            chunk = os.read(0, 65536)
            listening = bool(chunk)
            *lines, buffer = (buffer + chunk).split(b"\n")
            for case in (Case(**json.loads(line)) for line in lines):
                child = os.fork()
                if not child:
                    return case
                running[child] = case.number
        for child in tuple(running):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                answer = {"number": running.pop(child), "returncode": os.waitstatus_to_exitcode(status)}
                os.write(1, json.dumps(answer).encode() + b"\n")
    return None


def become(case: Case) -> None:
    """Look like a process that was started for this case: its descriptors, environment, folder, arguments, path."""
    for descriptor, name, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, f"{case.output}.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, f"{case.output}.err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(name, flags, 0o644)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.environ.update(case.environment, AFFIDAVIT_LAUNCH=case.launch)
    os.chdir(case.cwd)
    sys.argv = [case.script, *case.arguments]
    sys.path[0] = str(Path(case.script).parent)


def attach_again(launch: Path) -> None:
    """Give the forked interpreter the launch of its case, as if the shadow had just run; nothing has trained yet."""
    from affidavit import boot
    from affidavit.attach.launch import Launch

    early = sys.modules["_affidavit_early"]
    early.listing.digests.clear()
    early.listing.configs.clear()
    session = boot.session()
    session.launch = Launch.read(launch)
    session.vocabulary, session.instruments = boot.load_instruments(session.launch.plugins)
    session.details["cwd"] = str(Path.cwd())
    session.__post_init__()  # the fork detached it
    early._hello(str(launch))


def main() -> None:
    import gc
    import importlib.util
    import runpy

    for framework in FRAMEWORKS:
        importlib.import_module(framework)
    # A table that the library makes of a thousand patterns for the first model that it loads, and then keeps.
    tables = importlib.util.find_spec("transformers.conversion_mapping")
    if tables is not None:
        importlib.import_module(tables.name).get_checkpoint_conversion_mapping("")
    gc.freeze()  # a collection in the fork would copy every page of the frameworks
    case = serve()
    if case is not None:
        become(case)
        attach_again(Path(case.launch))
        runpy.run_path(case.script, run_name="__main__")


if __name__ == "__main__":
    main()
