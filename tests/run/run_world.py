"""Real commands under a real supervisor: the helper of the tests in this folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import affidavit
from affidavit.record.manifest import Manifest
from affidavit.run.command import read_command
from affidavit.run.gathered import gather
from affidavit.run.launch import Prepared, prepare
from affidavit.run.sealing import ensure_sealed

HERE = Path(__file__).parent
SOURCE = Path(affidavit.__file__).parents[1]
LIGHT = (sys.executable, str(HERE / "light.py"))


def bare_environment(**more: str) -> dict[str, str]:
    """Return an environment in which no scheduler is, whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "TORCHELASTIC_"))}
    for name in ("AFFIDAVIT_DIR", "AFFIDAVIT_LAUNCH", "RANK", "WORLD_SIZE"):
        kept.pop(name, None)
    return {**kept, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1", **more}


def wait_for(ready: Callable[[], object], *, seconds: float = 20.0) -> None:
    """Return once something is so; a test that waits in vain fails and says for what."""
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain"
        time.sleep(0.005)


@dataclass
class Project:
    """A project folder, and the runs in it."""

    root: Path
    environment: dict[str, str] = field(default_factory=bare_environment)

    @property
    def runs(self) -> Path:
        return self.root / ".affidavit" / "runs"

    def light(self, *words: str) -> tuple[str, ...]:
        return (*LIGHT, str(self.root), *words)

    def prepare(self, *argv: str, **more: object) -> Prepared:
        """Return an attempt of a command, prepared in this process."""
        command = read_command(argv, cwd=self.root, environment=self.environment)
        return prepare(command, project=self.root, environment=self.environment, **more)  # type: ignore[arg-type]

    def start(
        self, *argv: str, seals: bool = True, environment: Mapping[str, str] | None = None, **more: object
    ) -> subprocess.Popen[bytes]:
        """Start a supervisor in front of a command, in a process group of its own."""
        flags = () if seals else ("--no-seal",)
        words = [sys.executable, str(HERE / "supervised.py"), *flags, str(self.root), "--", *argv]
        chosen = {**self.environment, **(environment or {})}
        return subprocess.Popen(words, cwd=self.root, env=chosen, process_group=0, **more)  # type: ignore[call-overload, no-any-return]

    def run(self, *argv: str, environment: Mapping[str, str] | None = None) -> int:
        return self.start(*argv, environment=environment).wait(60)

    @property
    def only_run(self) -> Path:
        (run,) = self.runs.iterdir()
        return run

    def step(self, rank: int = 0) -> int:
        """Return the step that a rank itself last wrote down, 0 before the first."""
        try:
            return int((self.root / f"progress.{rank}").read_text() or 0)
        except (FileNotFoundError, ValueError):
            return 0

    def beating(self, ranks: int = 1) -> None:
        """Wait until every rank has beaten."""
        wait_for(lambda: all(self.step(rank) > 0 for rank in range(ranks)))

    def pid(self, rank: int = 0) -> int:
        """Return the process of a rank, as its journal names it."""
        (one,) = [one for one in gather(self.only_run).trainers if one.reading.rank == rank]
        return one.pid

    def over(self) -> Manifest:
        """Return the sealed manifest once nobody of the run lives, sealing it as the next ``ls`` would."""
        found: list[object] = []

        def is_sealed() -> bool:
            found.append(ensure_sealed(self.only_run))
            return isinstance(found[-1], Manifest)

        wait_for(is_sealed)
        assert isinstance(found[-1], Manifest)
        return found[-1]
