"""Runs the blocks of a document as its reader would: one shell, one folder, from the first line to the last.

A ``console`` block holds commands after ``$ `` and what they print; any other block whose first line is a comment
with a file name (``# train.py``) is that file. In the expected output a line ``…`` stands for any lines, and ``…``
inside a line for any text. What differs from run to run (ids, digests, dates, durations) is normalised on both sides.

    python tests/playbook/console.py docs/playbook/4.8-checklist.md      writes what is printed now into the document
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"(?:#|//) (?P<name>[\w./-]+\.\w+)\n")
MARK = "\x1e"
SECONDS = 240

NORMAL = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"\b\d{8}T\d{6}Z?-[0-9a-f]{4,}"), "RUN"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?"), "DATE"),
    (re.compile(r"\b[0-9a-f]{7,64}\b"), "DIGEST"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:s|ms|seconds)\b"), "DURATION"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)


@dataclass(frozen=True)
class Command:
    """One command, where its output stands in the document, and what it says there."""

    line: str
    start: int
    end: int
    expected: str


@dataclass(frozen=True)
class File:
    """A file that the document shows."""

    name: str
    text: str


def steps(document: str) -> Iterator[Command | File]:
    """Yield what the document shows and does, in order."""
    for block in FENCE.finditer(document):
        body, place = block["body"], block.start("body")
        if block["kind"] != "console":
            named = FILE_NAME.match(body)
            if named:
                yield File(named["name"], body)
            continue
        prompts = [match.start() for match in re.finditer(r"^\$ ", body, re.MULTILINE)]
        for start, end in zip(prompts, [*prompts[1:], len(body)], strict=True):
            line, _, expected = body[start:end].partition("\n")
            while line.endswith("\\"):
                more, _, expected = expected.partition("\n")
                line += f"\n{more}"
            yield Command(line.removeprefix("$ "), place + end - len(expected), place + end, expected)


def perform(document: str, folder: Path, environment: dict[str, str]) -> list[tuple[Command, str]]:
    """Return every command of a document with what it printed, in one shell that starts in an empty folder."""
    script = []
    commands = []
    for step in steps(document):
        if isinstance(step, File):
            script.append(f"mkdir -p {Path(step.name).parent} && cat > {step.name} <<'FILE OF THE DOCUMENT'")
            script.append(f"{step.text}FILE OF THE DOCUMENT")
        else:
            commands.append(step)
            script.append(f"{step.line}\n_code=$?; printf '{MARK}'; (exit $_code)")
    ended = subprocess.run(
        ["bash", "--norc"],
        input="\n".join(script),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    printed = ended.stdout.split(MARK)
    if len(printed) != len(commands) + 1:
        raise RuntimeError(
            f"the shell ended early, after {len(printed) - 1} of {len(commands)} commands:\n{ended.stdout}"
        )
    return list(zip(commands, printed, strict=False))


def normal(text: str) -> str:
    for pattern, word in NORMAL:
        text = pattern.sub(word, text)
    return text.strip("\n")


def agrees(expected: str, printed: str) -> bool:
    """Say whether a command printed what the document says."""
    pattern = re.escape(normal(expected)).replace("…", ".*?")
    pattern = re.sub(r"(^|\\\n)\.\*\?(?=\\\n|$)", lambda found: f"{found[1]}(?s:.*?)", pattern)
    return re.fullmatch(pattern, normal(printed)) is not None


def reader(home: Path) -> dict[str, str]:
    """Return the environment of somebody who reads the document: our commands, no colour, nobody's git settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "AFFIDAVIT_", "SLURM_"))}
    return {
        **kept,
        "HOME": str(home),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "PYTHONPATH": str(ROOT / "src"),
        "NO_COLOR": "1",
        "COLUMNS": "80",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A Reader",
        "GIT_AUTHOR_EMAIL": "reader@example.org",
        "GIT_COMMITTER_NAME": "A Reader",
        "GIT_COMMITTER_EMAIL": "reader@example.org",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "SCRIPTS": str(ROOT / "src/affidavit/demo/scripts"),
        "WORLD": str(ROOT / "tests/world"),
        "EXAMPLES": str(ROOT / "examples"),
    }


def renewed(expected: str, printed: str) -> str:
    """Return what a command printed, with those lines of the document that hold ``…`` and still say it."""
    open_lines = [line for line in expected.splitlines() if "…" in line.strip("…")]
    lines = (next((kept for kept in open_lines if agrees(kept, line)), line) for line in printed.splitlines())
    return "".join(f"{line}\n" for line in lines)


def rewrite(path: Path) -> None:
    """Write what the commands print now into the document, where it no longer agrees."""
    document = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        work = Path(folder) / "work"
        home.mkdir()
        work.mkdir()
        performed = perform(document, work, reader(home))
    for command, printed in reversed(performed):
        if not agrees(command.expected, printed):
            document = document[: command.start] + renewed(command.expected, printed) + document[command.end :]
    path.write_text(document)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))
