"""Numbers before a run, for one command: its launcher, script and configs, searched for what is known to be wrong.

The copy that hurts is made after the right number was known, into a new file, and it is read by whoever starts the run.

Source: playbook §4.7.
Blind to: projects without ``measurements.jsonl``, of which nothing is read; documents, which ``claims check`` reads; a
launcher that started this one from another host.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from affidavit.claims.facts import facts, unmeasured_facts, unread_facts
from affidavit.fact.observation import Cause
from affidavit.record.measurement import FILE, read
from affidavit.record.record import Fact
from affidavit.run.command import Command
from affidavit.run.reach import Reach

CHECK = "claims-bound"
"""The check that refuses a command before it starts, where ``[run] numbers`` says so."""
_ROWS = 40
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
_WORDS_READ = 64
_OF_A_LINE = re.compile(r"-[a-z]*[cs]")
"""An option after which a shell reads no file: its program is the next word, or stands on its standard input."""


def numbers_facts(command: Command, reached: Reach | None, project: Path) -> tuple[Fact, ...]:
    """Return what the files of a command say in numbers; what fails of it is said and keeps no command from starting.

    Args:
        reached: the first-party files, or None where nobody could find them.
    """
    try:
        if not (project / FILE).exists():
            return unmeasured_facts()
        # Loaded where there is something to look for: most projects never do, and each run would wait for it.
        from affidavit.claims.survey import survey

        paths = [*_launchers(command), *command.configs, *(reached.files if reached is not None else ())]
        if command.script is not None:
            paths.append(command.script)
        known = dict.fromkeys(path.resolve() for path in paths)
        return facts(survey(known, read(project / FILE), project, launched=True), project, most=_ROWS)
    except Exception as error:  # noqa: BLE001  a reader of ours that fails must not keep a training from starting
        return unread_facts(Cause.INSTRUMENT_FAILED, f"{type(error).__name__}: {error}".partition("\n")[0])


def _launchers(command: Command) -> Iterator[Path]:
    """Yield the shell scripts of a command: those among its words, and the one that this process was started by."""
    words = [command.executable, *(command.cwd / word for word in command.argv[1:_WORDS_READ])]
    yield from (path for path in words if path.suffix in (".sh", ".bash", ".slurm", ".sbatch") or path is words[0])
    yield from _above()


def _above() -> Iterator[Path]:
    """Yield the script of the shell that started this process, where one did."""
    try:
        parent = Path(f"/proc/{os.getppid()}")
        words = os.fsdecode((parent / "cmdline").read_bytes()).split("\0")[:_WORDS_READ]
        folder = (parent / "cwd").readlink()
    except OSError:
        return
    if Path(words[0]).name.lstrip("-") in _SHELLS:
        named = next((word for word in words[1:] if not word.startswith("-") or _OF_A_LINE.match(word)), "-c")
        if not named.startswith("-") and (folder / named).is_file():
            yield folder / named
