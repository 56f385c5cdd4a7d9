"""What a command starts: the script behind the launchers in front of it, and the words that are the script's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from affidavit.lint.shell.command import Command, Word

_FLAG = re.compile(r"--[\w.][\w.-]*")
_PYTHON = re.compile(r"python[\d.]*|pypy3?")
_WRAPPERS = frozenset(
    {
        *(
            "env",
            "nohup",
            "time",
            "exec",
            "command",
            "sudo",
            "nice",
            "ionice",
            "numactl",
            "taskset",
            "timeout",
            "stdbuf",
        ),
        *(
            "srun",
            "mpirun",
            "mpiexec",
            "uv",
            "poetry",
            "pipenv",
            "pdm",
            "hatch",
            "pixi",
            "conda",
            "micromamba",
            "mamba",
        ),
        *("setsid", "xvfb-run", "nsys", "catchsegv", "unbuffer", "script_runner", "affidavit"),
    }
)
"""Programs that start the command behind their own options."""
_STARTERS = frozenset({"torchrun", "deepspeed", "accelerate", "accelerate-launch", "trl"})
_STARTER_MODULES = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "accelerate.commands.launch": "accelerate",
    "accelerate.commands.accelerate_cli": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
}
_PYTHON_VALUES = frozenset({"-X", "-W", "--check-hash-based-pycs"})


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A Python program that a command starts.

    Args:
        script: its file as it is written, or its module; "" for a program of a package.
        is_module: it was named by ``-m``.
        program: ``trl sft`` and its like, where a package brings the script along.
        arguments: the words that are the script's own.
        launcher: the words between a launcher and the script, which are the launcher's.
        by: ``python``, ``torchrun``, ``accelerate``, ``deepspeed``, ``trl``.
        line: where the command begins.
    """

    arguments: tuple[Word, ...]
    by: str
    line: int
    script: str = ""
    is_module: bool = False
    program: str = ""
    launcher: tuple[Word, ...] = ()


def launch(command: Command) -> Launch | None:
    """Return what a command starts, None where that is no Python program or is not certain.

    Blind to: containers, remote shells and schedulers that take a command as one string.
    """
    words = command.words
    at = _starter(words)
    if at is None:
        return None
    name = _base(words[at])
    rest = words[at + 1 :]
    if _PYTHON.fullmatch(name):
        return _by_python(rest, command.line)
    if name.endswith(".py"):
        return Launch(script=words[at].text, arguments=tuple(rest), by="python", line=command.line)
    return _by_starter(name, rest, command.line)


def _starter(words: Sequence[Word]) -> int | None:
    """Return where the program stands that starts Python: the first word, or one behind a wrapper's options."""
    if not words:
        return None
    first = _base(words[0])
    if _is_starter(first) or first.endswith(".py"):
        return 0
    if first not in _WRAPPERS:
        return None
    found = next((at for at in range(1, len(words)) if _is_started_by(words[at - 1], words[at])), None)
    if found is None:
        found = next((at for at, word in enumerate(words) if at and word.is_sure and word.text.endswith(".py")), None)
    return found


def _is_starter(name: str) -> bool:
    return name in _STARTERS or _PYTHON.fullmatch(name) is not None


def _is_started_by(before: Word, word: Word) -> bool:
    """Whether a word behind a wrapper is a program: not the value of an option, as in ``uv run --with trl``."""
    name = _base(word)
    return _PYTHON.fullmatch(name) is not None or (name in _STARTERS and not before.text.startswith("-"))


def _base(word: Word) -> str:
    return PurePosixPath(word.guess).name


def _by_python(words: Sequence[Word], line: int) -> Launch | None:
    at = 0
    while at < len(words):
        word = words[at]
        if not word.is_sure or word.text in ("-", "-c"):
            return None
        if word.text == "-m":
            return _by_module(words[at + 1 :], line)
        if word.text.startswith("-m") and len(word.text) > 2:
            return None
        if word.text in _PYTHON_VALUES:
            at += 1
        elif not word.text.startswith("-"):
            return Launch(script=word.text, arguments=tuple(words[at + 1 :]), by="python", line=line)
        at += 1
    return None


def _by_module(words: Sequence[Word], line: int) -> Launch | None:
    if not words or not words[0].is_sure:
        return None
    starter = _STARTER_MODULES.get(words[0].text)
    if starter is not None:
        behind = words[1:]
        return _by_starter(starter, behind, line, is_bare=words[0].text == "accelerate.commands.launch")
    return Launch(script=words[0].text, is_module=True, arguments=tuple(words[1:]), by="python", line=line)


def _by_starter(name: str, words: Sequence[Word], line: int, *, is_bare: bool = False) -> Launch | None:
    if name == "trl":
        if not words or not words[0].is_sure:
            return None
        return Launch(program=f"trl {words[0].text}", arguments=tuple(words[1:]), by="trl", line=line)
    if name == "accelerate" and not is_bare:
        if not words or words[0].text != "launch":
            return None
        words = words[1:]
    for at, word in enumerate(words):
        if word.text in ("-m", "--module", "--no_python", "--no-python"):
            return _by_launched_module(name, words, at, line)
        if word.is_sure and word.text.endswith(".py") and not word.text.startswith("-"):
            launcher, arguments = tuple(words[:at]), tuple(words[at + 1 :])
            return Launch(script=word.text, arguments=arguments, by=_plain(name), line=line, launcher=launcher)
    return None


def _by_launched_module(name: str, words: Sequence[Word], at: int, line: int) -> Launch | None:
    """Return a module that a launcher starts, where it stands directly behind the option."""
    behind = words[at + 1 :]
    if "no" in words[at].text or not behind or not behind[0].is_sure or behind[0].text.startswith("-"):
        return None
    return Launch(
        script=behind[0].text,
        is_module=True,
        arguments=tuple(behind[1:]),
        by=_plain(name),
        line=line,
        launcher=tuple(words[:at]),
    )


def _plain(name: str) -> str:
    return name.partition("-")[0]


def option(words: Sequence[Word], *names: str) -> str:
    """Return the value that a command line gives to an option, "" where there is none or it is not certain."""
    for at, word in enumerate(words):
        name, mark, value = word.text.partition("=")
        if name in names and word.is_sure:
            if mark:
                return value
            return words[at + 1].text if at + 1 < len(words) and words[at + 1].is_sure else ""
    return ""


def flags(arguments: Sequence[Word]) -> tuple[tuple[str, Word, str], ...]:
    """Return every long option that is surely given: its name with dashes, its word, and its value, "" for none."""
    found: list[tuple[str, Word, str]] = []
    for at, word in enumerate(arguments):
        if word.text == "--":
            break
        name, mark, value = word.head.partition("=")
        # What holds a blank is a value to argparse, also where it begins with a dash: --extra "--lr 1".
        if not _FLAG.fullmatch(name) or not (mark or word.is_sure):
            continue
        following = arguments[at + 1] if at + 1 < len(arguments) else None
        if not mark and following is not None and following.is_sure and not following.text.startswith("--"):
            value = following.text
        found.append((name, word, value if word.is_sure else ""))
    return tuple(found)
