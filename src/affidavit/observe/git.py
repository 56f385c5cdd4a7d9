"""The git command line, asked so that nothing in the user's setup can make it lie, write or hang.

Git answers differently when `GIT_DIR` leaks in from a hook, when `diff.external` or `color.ui` rewrites
its output, when a file-system monitor says "nothing changed". Every question here goes through one door
that resets those, takes no lock, and knows two outcomes only: an `Answer`, or an exception.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from affidavit.observe.error import GitMissingError, GitRefusedError, NotARepositoryError

LIMIT_SECONDS: Final = 60.0

# Where the user's configuration lies is the user's business (safe.directory is in it); what is IN the
# environment (GIT_DIR, GIT_INDEX_FILE, GIT_CONFIG_COUNT, GIT_TRACE ...) is an accident of who started us.
_KEPT: Final = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})

_RESETS: Final = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.preloadIndex=true",
    "core.quotePath=false",
    "core.hooksPath=/dev/null",
    "core.logAllRefUpdates=false",
    "color.ui=false",
    "diff.external=",
    "diff.ignoreSubmodules=none",
    "status.showUntrackedFiles=normal",
    "status.relativePaths=false",
    "status.renames=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What git printed, from a call that ended with an accepted exit code."""

    stdout: bytes

    @property
    def text(self) -> str:
        """The single line of a one-line answer; a file name in it may be any bytes."""
        return os.fsdecode(self.stdout.removesuffix(b"\n"))

    @property
    def records(self) -> tuple[str, ...]:
        """The NUL-terminated records of an answer asked for with `-z`."""
        return tuple(os.fsdecode(record) for record in self.stdout.split(b"\0")[:-1])


@cache
def executable() -> str:
    """The absolute path of git, looked up once.

    Raises:
        GitMissingError: PATH has no git.
    """
    found = shutil.which("git")
    if found is None:
        raise GitMissingError(
            "git: expected a git program (PATH), saw none.\n"
            "This means nobody can say which commit this code is. Install git, or run "
            '"affidavit stamp" where the image is built.\n'
            "Not affected: facts read inside the training process."
        )
    return str(Path(found).absolute())


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a git call: the user's, without inherited git state, in plain English, offline."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT}
    kept.pop("LANGUAGE", None)
    return kept | {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        **(extra or {}),
    }


def ask(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
    accept: tuple[int, ...] = (0,),
    resets: bool = True,
    limit_seconds: float = LIMIT_SECONDS,
) -> Answer:
    """Git's answer about `folder`, or an exception: a refusal cannot be read as "nothing changed".

    Args:
        folder: where git runs (`git -C`).
        arguments: the sub-command and its arguments.
        stdin: bytes for git's standard input.
        extra: environment for this call alone (a temporary index, an author).
        accept: exit codes that are answers.
        resets: False only to read the user's own configuration.
        limit_seconds: after this the whole process group of git, filters included, is killed, s.
    Raises:
        GitMissingError: no git on PATH.
        NotARepositoryError: git says that the folder is in no repository.
        GitRefusedError: any other exit code, or the time limit.
    Source: playbook §4.4; safe.directory since git 2.35.2 (CVE-2022-24765).
    Blind to: what the repository's own filter drivers do; git runs them when a file is normalised.
    """
    command = [executable(), "--no-optional-locks", "--no-pager", "-C", str(folder)]
    if resets:
        command += [word for reset in _RESETS for word in ("-c", reset)]
    command += arguments
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(extra),
            start_new_session=True,
        )
    except OSError as error:
        raise _refused(folder, arguments, f"{type(error).__name__}: {error}") from error
    try:
        stdout, stderr = process.communicate(stdin, timeout=limit_seconds)
    except subprocess.TimeoutExpired as expired:
        raise _refused(folder, arguments, f"no answer in {limit_seconds:g} s") from expired
    finally:
        if process.returncode is None:
            _end(process)
    if process.returncode not in accept:
        raise _explained(folder, arguments, process.returncode, os.fsdecode(stderr).strip())
    return Answer(stdout=stdout)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Git and every filter it started are gone; the pipes are closed without waiting for stragglers."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _explained(
    folder: Path, arguments: tuple[str, ...], code: int, stderr: str
) -> NotARepositoryError | GitRefusedError:
    if "dubious ownership" in stderr or "unsafe repository" in stderr:
        return GitRefusedError(
            f"git.owner: expected a repository of this user (git, safe.directory), saw {folder} owned by "
            f"another user (git refused).\n"
            f"This means the commit of this code is unknown, not clean. Run "
            f'"git config --global --add safe.directory {folder}".\n'
            f"Not affected: facts read inside the training process."
        )
    if "not a git repository" in stderr:
        return NotARepositoryError(
            f"git.repository: expected a git repository (folder), saw none at {folder}.\n"
            f'This means no commit describes this code. Run "git init" and commit, or "affidavit stamp".\n'
            f"Not affected: facts read inside the training process."
        )
    return _refused(folder, arguments, f"exit code {code}: {stderr or 'no message'}")


def _refused(folder: Path, arguments: tuple[str, ...], saw: str) -> GitRefusedError:
    question = " ".join(arguments)
    return GitRefusedError(
        f"git.answer: expected an answer to {question!r} in {folder} (git), saw {saw}.\n"
        f"This means the state of this code is unknown, not clean. Run "
        f'"git -C {folder} {question}" to see it fail.\n'
        f"Not affected: facts read inside the training process."
    )
