"""What a command reaches, found before it starts: its interpreter, its first-party files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from affidavit import fact
from affidavit.observe.error import InterpreterError
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.scripts import Closure, module_closure, script_closure
from affidavit.observe.search_path import search_roots
from affidavit.run.command import Command

OURS = Path(fact.__file__).resolve().parents[1]
"""Our own package, which a script that names a tokenizer to us imports: no file of the run's."""


@dataclass(frozen=True, kw_only=True)
class Reach:
    """The environment that a command runs in, and the import closure of what it starts."""

    interpreter: Interpreter
    closure: Closure

    @property
    def files(self) -> tuple[Path, ...]:
        """The first-party files, ours left out."""
        return tuple(file.path for file in self.closure.files if not file.path.is_relative_to(OURS))


def reach(command: Command, environment: Mapping[str, str]) -> Reach:
    """Return what a command reaches.

    Raises:
        ObserveError: it has no interpreter, that does not answer, or the script is gone.
    Blind to: what :mod:`affidavit.observe.scripts` is blind to; what a shell script starts.
    """
    if command.interpreter is None:
        raise InterpreterError("interpreter: expected a python (command line, PATH), saw none")
    interpreter = Interpreter.of(command.interpreter)
    return Reach(interpreter=interpreter, closure=_closure(command, environment, interpreter))


def _closure(command: Command, environment: Mapping[str, str], interpreter: Interpreter) -> Closure:
    first = command.cwd if command.script is None else command.script.resolve().parent
    path = environment.get("PYTHONPATH", "")
    roots = search_roots(first=first, python_path=path, interpreter=interpreter, cwd=command.cwd)
    if command.script is not None:
        return script_closure(command.script, roots, interpreter)
    if command.module:
        return module_closure(command.module, roots, interpreter)
    return Closure(files=(), dynamic=(), not_scanned=())
