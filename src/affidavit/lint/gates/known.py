"""Which commands are gates, and which train: by the program, or by a name that says what it is for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_RUNNERS: Final = frozenset(
    {
        *("pytest", "py.test", "tox", "nox", "unittest", "ctest", "flake8", "pylint", "mypy", "pyright", "pyflakes"),
        *("basedpyright", "shellcheck", "bandit", "lint-imports", "yamllint", "hadolint", "actionlint", "vulture"),
    }
)
_WITH: Final = {
    "affidavit": r"(lint|verify|preflight|claims|diff)\b",
    "ruff": r"check\b(?!.*--fix)|format\b.*--(check|diff)",
    "black": r".*--check",
    "isort": r".*--check|.*(^| )-c\b",
    "make": r"(.* )?(test|tests|check|checks|lint|typecheck|verify)( |$)",
    "cargo": r"(test|clippy|nextest)\b",
    "go": r"(test|vet)\b",
    "npm": r"(run )?(test|lint|typecheck)\b",
    "yarn": r"(run )?(test|lint|typecheck)\b",
    "bazel": r"test\b",
    "pip": r"check\b",
    "sha256sum": r"(.* )?(-c|--check)\b",
    "md5sum": r"(.* )?(-c|--check)\b",
    "coverage": r"run -m (pytest|unittest)",
    "pre-commit": r"run\b",
    "git": r"diff .*--exit-code",
}
_GATE: Final = frozenset(
    {
        *("check", "checks", "checker", "verify", "validate", "validator", "assert", "test", "tests", "gate", "gates"),
        *("preflight", "lint", "linter", "audit", "honesty", "selftest", "typecheck"),
    }
)
_SURE: Final = frozenset(
    {"preflight", "verify", "validate", "validator", "gate", "gates", "assert", "honesty", "selftest"}
)
"""Of the names those that say that something must hold; what merely checks or tests may be there to warn."""
_NOT_GATE: Final = frozenset(
    {
        *("download", "convert", "install", "fetch", "prepare", "build", "generate", "gen", "setup", "create", "make"),
        *("train", "training", "finetune", "pretrain", "sft", "dpo"),
        *("upload", "copy", "clean", "cleanup", "get", "set"),
        *("list", "report", "summary", "summarize", "start", "stop", "print", "show", "send"),
        *("update", "exists", "status", "fetcher", "fix", "format", "wait", "bench", "benchmark", "dataset", "point"),
    }
)
_OF_TEST: Final = frozenset({"data", "dataset", "env", "log", "image", "server"})
"""Of these a test is made; what checks them is a gate all the same."""
_TRAIN: Final = re.compile(
    r"(?:^|[^a-z])(?:pre|fine)?-?_?(?:train(?!ed|er\.log|_log|ing_log)|finetune|sft|dpo|grpo|rlhf)"
)
_LEARNS: Final = re.compile(r"--(?:lr|learning[-_]rate|num[-_]train[-_]epochs)(?:=|$)")
"""Options that say of a script, whatever its name, that it trains."""
_WEIGHTS: Final = re.compile(r"^--?(?:ckpt|checkpoint|model|weights)(?:[-_]\w+)*(?:=|$)|\.(?:pth?|ckpt|safetensors)$")
"""Arguments that say of a test.py that it evaluates a model."""
_TRAINERS: Final = frozenset({"torchrun", "deepspeed"})
_SILENT: Final = frozenset({"--help", "-h", "--version", "-V", "--collect-only", "--co"})
_TAKES: Final = {"timeout": 1, "nice": 0, "nohup": 0, "sudo": 0, "env": 0, "time": 0, "exec": 0, "command": 0}
_TAKES.update({"stdbuf": 0, "unbuffer": 0, "xvfb-run": 0, "ionice": 0, "srun": 0, "builtin": 0, "caffeinate": 0})
_VALUED: Final = frozenset(
    {"-n", "-k", "-s", "-u", "-c", "--signal", "--kill-after", "--adjustment", "--with", "--python"}
)
_RUN: Final = frozenset({"uv", "poetry", "pipenv", "hatch", "pdm", "pixi", "rye", "conda", "mamba", "micromamba"})
_PYTHON: Final = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*$|\$\{?\w*PY(?:THON)?\w*(?::-[^}]*)?\}?$", re.I)
FILTERS: Final = frozenset({"tee", "cat", "grep", "egrep", "head", "tail", "sed", "awk", "ts", "less", "tr", "column"})
"""What stands at the end of a pipe and ends well whatever it is fed."""
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})


def peel(words: Sequence[str]) -> tuple[str, ...]:
    """Return a command without what stands in front of it: sudo, timeout 60, uv run, env A=1."""
    left = list(words)
    for _ in range(8):
        while left and re.match(r"\w+=", left[0]):
            left.pop(0)
        name = left[0].rpartition("/")[2] if left else ""
        if name in _RUN and len(left) > 2 and left[1] == "run":
            left = _past_options(left[2:], 0)
        elif name in _TAKES and len(left) > 1:
            left = _past_options(left[1:], _TAKES[name])
        else:
            break
    return tuple(left)


def _past_options(words: list[str], more: int) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in _VALUED else words[1:]
    return words[more:]


def told(words: Sequence[str]) -> tuple[str, ...]:
    """Return the program a command starts, whichever interpreter reads it, and its arguments."""
    left = list(peel(words))
    if left and _PYTHON.match(left[0]):
        left = left[1:]
        while left and left[0].startswith("-") and left[0] not in ("-m", "-c", "-"):
            left = left[2:] if left[0] in ("-W", "-X") else left[1:]
        if left[:1] == ["-m"]:
            left = left[1:]
        elif left[:1] in (["-c"], ["-"]):
            return ()
    elif left and left[0].rpartition("/")[2] in _SHELLS:
        left = [word for word in left[1:] if not word.startswith("-")]
        if "-c" in words:
            return ()
    return tuple(left)


def is_runner(words: Sequence[str]) -> bool:
    """Whether a program is known to judge: a test runner, a linter, a type checker."""
    left = told(words)
    if not left or _SILENT.intersection(left):
        return False
    name = left[0].rpartition("/")[2].rpartition("}")[2]
    if name in _RUNNERS:
        return name != "mypy" or "--install-types" not in left
    rest = " ".join(left[1:])
    return name in _WITH and bool(re.match(_WITH[name], rest))


def is_gate(words: Sequence[str], functions: frozenset[str] = frozenset()) -> bool:
    """Whether a command judges: a known runner, or a file or function whose name says that it does.

    Blind to: a gate under a name that says something else.
    """
    if is_runner(words):
        return True
    peeled, left = peel(words), told(words)
    if not left or _SILENT.intersection(left):
        return False
    if any(word.startswith("--fix") for word in left):
        return False
    first = left[0]
    is_file = len(left) < len(peeled) or "/" in first or first in functions
    if not is_file or first.startswith("-"):
        return False
    parts = _parts(first)
    if parts == ["test"] and any(map(_WEIGHTS.search, left[1:])):
        return False
    says = _GATE.intersection(parts)
    is_noun = says <= {"test", "tests"} and bool(_OF_TEST.intersection(parts))
    return bool(says) and not is_noun and not _NOT_GATE.intersection(parts)


def says_must(words: Sequence[str]) -> bool:
    """Whether a gate is one that must hold: a known runner, or a name such as preflight, verify, gate."""
    left = told(words)
    return is_runner(words) or (bool(left) and bool(_SURE.intersection(_parts(left[0]))))


def _parts(name: str) -> list[str]:
    return re.split(r"[^a-z]+", re.sub(r"\.(py|sh|bash)$", "", name.rpartition("/")[2]).lower())


def is_training(words: Sequence[str]) -> bool:
    """Whether a command trains."""
    peeled, left = peel(words), told(words)
    if not left:
        return False
    name = peeled[0].rpartition("/")[2]
    if name in _TRAINERS or (name == "accelerate" and peeled[1:2] == ("launch",)):
        return not is_gate(peeled[1:2])
    if name in ("llamafactory-cli", "axolotl", "trl", "litgpt", "tune"):
        return bool(re.search(r"train|sft|dpo|grpo|pretrain|finetune|run", " ".join(peeled[1:2])))
    if name == "affidavit":
        return peeled[1:2] == ("run",)
    is_named = bool(_TRAIN.search(left[0].rpartition("/")[2].lower()))
    return len(left) < len(peeled) and (is_named or any(map(_LEARNS.match, left[1:])))
