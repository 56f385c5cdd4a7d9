"""Runs one script twice, bare and observed, as processes of their own, and keeps all that a user could compare."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.attach.launch import VARIABLE, Launch, Plugin
from affidavit.fact import folder as names
from affidavit.fact.journal import Reading, read
from affidavit.fact.observation import Aspect, Cause, Known, Unknown

ROOT = Path(__file__).parents[2]
SHADOW = ROOT / "src/affidavit/attach/site"
SCRIPTS = Path(__file__).parent / "scripts"
PATHS = (ROOT / "src/affidavit/demo/scripts", SCRIPTS)
SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How one process ended, what it printed, and what of ours is on the disk afterwards."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    spool: Path
    out: Path

    @property
    def said(self) -> dict[str, object]:
        """The JSON object that the script printed last."""
        assert self.returncode == 0, self.stderr[-3000:]
        found: dict[str, object] = json.loads(self.stdout.splitlines()[-1])
        return found

    @property
    def journals(self) -> tuple[Reading, ...]:
        return tuple(read(path) for path in names.journals(self.spool))

    @property
    def journal(self) -> Reading:
        (one,) = self.journals
        return one

    def known(self, term: str, episode: int = 0) -> object:
        """Return the value of a term, as every merge would: the last one known."""
        states = self.states(term, episode)
        assert states and isinstance(states[-1], Known), f"{term} is not known in episode {episode}: {states}"
        return states[-1].value

    def unknown(self, term: str, episode: int = 0) -> Cause:
        """Return the cause for which a term is unknown in the end; several causes are an error."""
        states = self.states(term, episode)
        assert states and isinstance(states[-1], Unknown), f"{term} is known: {states}"
        (cause,) = [state.cause for state in states if isinstance(state, Unknown)]
        return cause

    def states(self, term: str, episode: int = 0) -> list[Known | Unknown]:
        return [
            seen.state
            for seen in self.journal.observations
            if seen.term == term and seen.aspect is Aspect.RESOLVED and seen.episode == episode
        ]

    def files(self) -> dict[str, bytes]:
        """Every file that the script itself wrote, by its path."""
        return {str(path.relative_to(self.out)): path.read_bytes() for path in self.out.rglob("*") if path.is_file()}


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Starts scripts below one folder; ``bare`` without us, ``observed`` with a launch file and the shadow in front."""

    folder: Path
    interpreter: Path = Path(sys.executable)
    count: list[int] = field(default_factory=lambda: [0])

    def bare(self, *command: str, **how: object) -> Ran:
        return self._run(command, None, **how)  # type: ignore[arg-type]

    def observed(self, *command: str, launch: Mapping[str, object] | None = None, **how: object) -> Ran:
        return self._run(command, launch or {}, **how)  # type: ignore[arg-type]

    def _run(
        self,
        command: Sequence[str],
        launch: Mapping[str, object] | None,
        *,
        environment: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
        spool: Path | None = None,
        cwd: Path | None = None,
    ) -> Ran:
        self.count[0] += 1
        home = self.folder / f"{'bare' if launch is None else 'observed'}{self.count[0]}"
        spool, out = spool or home / "spool", home / "out"
        out.mkdir(parents=True)
        spool.mkdir(parents=True, exist_ok=True)
        told = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AFFIDAVIT"))}
        told |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "OUT": ".", "HF_HOME": str(home / "hf")}
        path = [str(place) for place in PATHS]
        told |= environment or {}
        path += [place for place in told.get("PYTHONPATH", "").split(os.pathsep) if place]
        if launch is not None:
            path.insert(0, str(SHADOW))
            file = names.launch(spool, 0)
            Launch(run="t", folder=str(home), spool=str(spool), **launch).write(file)  # type: ignore[arg-type]
            told[VARIABLE] = str(file)
        told["PYTHONPATH"] = os.pathsep.join(path)
        is_python = command[0].endswith(".py") or command[0].startswith("-")
        words = [*before, *([str(self.interpreter)] if is_python else []), *command]
        begun = time.monotonic()
        ended = subprocess.run(
            words, env=told, cwd=cwd or out, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        return Ran(
            returncode=ended.returncode,
            stdout=ended.stdout,
            stderr=ended.stderr,
            seconds=time.monotonic() - begun,
            spool=spool,
            out=out,
        )


def script(name: str) -> str:
    return str(SCRIPTS / name)


def plugin(folder: Path, source: str) -> Plugin:
    """Write a plugin of one instrument module, which may also lay hands on the house's own instruments."""
    package = folder / "saboteur"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "hands.py").write_text(source)
    return Plugin(prefix="saboteur", package="saboteur", folder=str(package), terms=(), instruments=("hands",))
