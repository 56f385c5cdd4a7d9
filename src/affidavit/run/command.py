"""What a command line will run, read without running it: the script or module, its interpreter, its configs.

No launcher is known by name: the first Python file or first-party ``-m`` module among the words is what they launch.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.fact.errors import AffidavitError, refusal
from affidavit.observe.arguments import config_arguments

NOT_FOUND, NOT_EXECUTABLE = 127, 126
_PYTHON = re.compile(r"python(\d+(\.\d+)?)?")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class CommandError(AffidavitError):
    """The command cannot be started; ``code`` is what a shell would have returned."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command line as it will be started, and what can be seen of it beforehand.

    ``script`` is the Python file that runs, ``module`` the first-party module of ``-m``; both are empty where neither
    stands among the words. ``interpreter`` is the Python that most likely trains, None where none is found.
    ``recipe`` names what is held against each other where nobody gave a name: the program and the first config it is
    given, so that a resumed run keeps its name and two configs of one script do not share one.
    """

    argv: tuple[str, ...]
    executable: Path
    cwd: Path
    script: Path | None
    module: str
    interpreter: Path | None
    configs: tuple[Path, ...]
    recipe: str


def read_command(argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str]) -> Command:
    """Return what a command line will run.

    Raises:
        CommandError: there is no such program, or it is not executable.

    Blind to: programs that a shell script, a Makefile or a container starts; code given with ``-c`` or on stdin.
    """
    executable = _executable(argv, cwd, environment)
    place, script, module = _program(argv, cwd)
    return Command(
        argv=tuple(argv),
        executable=executable,
        cwd=cwd,
        script=script,
        module=module,
        interpreter=_interpreter(executable, cwd, environment),
        configs=config_arguments(argv, cwd),
        recipe=_recipe(argv, place, script, module, cwd),
    )


def _recipe(argv: Sequence[str], place: int, script: Path | None, module: str, cwd: Path) -> str:
    if script is not None:
        return script_recipe(script, argv[place + 1 :], cwd)
    verb = argv[1] if len(argv) > 1 and re.fullmatch(r"[a-z][a-z0-9_-]*", argv[1]) else ""
    program = module or "-".join(word for word in (Path(argv[0]).name, verb) if word)
    return _configured(program, argv[place + 1 :], cwd)


def script_recipe(script: Path, arguments: Sequence[str], cwd: Path) -> str:
    """Return the name under which runs of a script are held against each other, however they were started."""
    return _configured(script.parent.name if script.stem == "__main__" else script.stem, arguments, cwd)


def _configured(program: str, arguments: Sequence[str], cwd: Path) -> str:
    given = config_arguments(arguments, cwd)
    return f"{program}:{given[0].stem}" if given else program


def _executable(argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> Path:
    name = argv[0] if argv else ""
    search = environment.get("PATH", os.defpath)
    found = _which(name, cwd, search)
    if found is not None:
        return found
    there = cwd / name if "/" in name else None
    exists = there is not None and there.exists()
    saw = (
        "a folder"
        if there and there.is_dir()
        else "a file without the right to be executed"
        if exists
        else "no such file"
    )
    raise CommandError(
        refusal(
            subject=f"command {name!r}",
            expected="a program (command line)" if "/" in name else "a program (PATH)",
            saw=saw,
            means="Nothing was started.",
            action=f'Run "chmod +x {name}", or put its interpreter in front.'
            if exists
            else f'Run "command -v {name}".',
            unaffected="everything; no file was written",
        ),
        NOT_EXECUTABLE if exists else NOT_FOUND,
    )


def _which(name: str, cwd: Path, search: str) -> Path | None:
    if not name:
        return None
    if "/" in name:
        path = cwd / name
        return path if path.is_file() and os.access(path, os.X_OK) else None
    found = shutil.which(name, path=search)
    return cwd / found if found else None


def _program(argv: Sequence[str], cwd: Path) -> tuple[int, Path | None, str]:
    """Return where the program stands among the words, and what it is."""
    for place, word in enumerate(argv):
        following = argv[place + 1] if place + 1 < len(argv) else ""
        if word in ("-m", "--module") and _MODULE.fullmatch(following) and _is_first_party(following, cwd):
            return place + 1, None, following
        path = cwd / word
        if word.endswith(".py") and path.is_file():
            return place, path, ""
        if place and _PYTHON.fullmatch(Path(argv[place - 1]).name) and (path / "__main__.py").is_file():
            return place, path / "__main__.py", ""
    first = cwd / argv[0]
    own = first.is_relative_to(cwd) and _runs_python(first)
    return 0, first if own else None, ""


def _is_first_party(module: str, cwd: Path) -> bool:
    path = cwd.joinpath(*module.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


def _runs_python(path: Path) -> bool:
    """Say whether a file is a Python script without the suffix."""
    words = _shebang(path) or ("",)
    return _PYTHON.fullmatch(Path(words[-1]).name) is not None


def _interpreter(executable: Path, cwd: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the Python of the command: itself, the one its first line names, or the one on PATH."""
    search = environment.get("PATH", os.defpath)
    named = [str(executable)] if _PYTHON.fullmatch(executable.name) else []
    words = _shebang(executable) or ()
    named += [word for word in words if _PYTHON.fullmatch(Path(word).name)]
    candidates = (_which(name, cwd, search) for name in (*named, "python", "python3"))
    return next((found for found in candidates if found is not None), None)


def _shebang(path: Path) -> tuple[str, ...] | None:
    try:
        with path.open("rb") as file:
            line = file.readline(512)
    except OSError:
        return None
    words = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    return tuple(words) or None
