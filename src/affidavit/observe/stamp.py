"""A stamp: what a commit said of a folder's files, written where git still was, for a container that has no ``.git``.

An image is built from a checkout and leaves the repository behind. At run time no commit can be asked, and a commit id
in an environment variable describes whatever was copied. The stamp carries the answer along, file by file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from affidavit import __version__
from affidavit.fact.errors import refusal
from affidavit.observe.error import StampError
from affidavit.observe.verdict import DESCRIBED, FileVerdict

NAME: Final = "affidavit-stamp.json"
FORMAT: Final = 1
SIZE_BYTES: Final = 1 << 26
_KEYS: Final = ("affidavit", "commit", "files", "format", "project", "seal")


@dataclass(frozen=True, kw_only=True)
class Line:
    """One file as it was stamped: the sha256 of its bytes, and what git's commit said of them then."""

    sha256: str
    verdict: FileVerdict


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """A folder at one commit. Paths in ``files`` are relative to the folder that holds the stamp."""

    project: str
    commit: str
    files: Mapping[str, Line]

    @property
    def dirty(self) -> tuple[str, ...]:
        """The files whose bytes no commit held when the stamp was made."""
        return tuple(path for path, line in self.files.items() if line.verdict not in DESCRIBED)


def encode(stamp: Stamp) -> bytes:
    """The bytes of a stamp: one line a file, sorted, and at the end a digest over all that stands before it."""
    body = _body(stamp)
    return _text({**body, "seal": _seal(body)})


def read(path: Path) -> Stamp:
    """The stamp that a file holds, read strictly: any bytes that `encode` would not write are refused.

    Raises:
        StampError: unreadable, cut off, edited, of a newer format, or no stamp.
    Source: playbook §4.4.
    Blind to: whoever makes a stamp that lies, with its own seal. It is a word of the image's builder.
    """
    try:
        if path.stat().st_size > SIZE_BYTES:
            raise _refused(path, f"{path.stat().st_size:,} bytes")
        raw = path.read_bytes()
        said = json.loads(raw)
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"no whole JSON document ({error})") from error
    if not isinstance(said, dict):
        raise _refused(path, f"a {type(said).__name__}")
    if isinstance(said.get("format"), int) and said["format"] > FORMAT:
        raise _refused(path, f"format {said['format']}, of affidavit {said.get('affidavit')!s:.20}, which is newer")
    try:
        stamp = _stamp(said)
    except (KeyError, TypeError, ValueError) as error:
        raise _refused(path, f"another shape ({type(error).__name__}: {error!s:.80})") from error
    body = {**_body(stamp), "affidavit": said["affidavit"]}
    if said["seal"] != _seal(body) or raw != _text({**body, "seal": said["seal"]}):
        raise _refused(path, "bytes that its seal does not cover: it was edited after it was made")
    return stamp


def _stamp(said: Mapping[str, object]) -> Stamp:
    if tuple(sorted(said)) != _KEYS or said["format"] != FORMAT:
        raise ValueError(f"keys {', '.join(said)}")
    rows, commit, project = said["files"], said["commit"], said["project"]
    if not isinstance(rows, list) or not isinstance(project, str) or not isinstance(said["affidavit"], str):
        raise ValueError("files, project or affidavit")
    if not isinstance(commit, str) or not re.fullmatch(r"[0-9a-f]{40,64}", commit):
        raise ValueError("commit")
    files: dict[str, Line] = {}
    for row in rows:
        path, sha256, verdict = row
        if not isinstance(path, str) or not isinstance(sha256, str) or not re.fullmatch(r"[0-9a-f]{64}", sha256):
            raise ValueError(f"file {path!r}")
        files[path] = Line(sha256=sha256, verdict=FileVerdict(verdict))
    return Stamp(project=project, commit=commit, files=files)


def _body(stamp: Stamp) -> dict[str, object]:
    rows = [[path, line.sha256, line.verdict.value] for path, line in sorted(stamp.files.items())]
    return {
        "affidavit": __version__,
        "commit": stamp.commit,
        "files": rows,
        "format": FORMAT,
        "project": stamp.project,
    }


def _seal(body: Mapping[str, object]) -> str:
    return "sha256:" + hashlib.sha256(_text(body)).hexdigest()


def _text(document: Mapping[str, object]) -> bytes:
    """The only bytes that stand for a document: keys in order, each on its own line, and so is each file."""
    parts: list[str] = []
    for key, value in sorted(document.items()):
        shown = json.dumps(value)
        if isinstance(value, list):
            shown = "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"
        parts.append(f"{json.dumps(key)}: {shown}")
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode("ascii")


def _refused(path: Path, saw: str) -> StampError:
    return StampError(
        refusal(
            subject=f"stamp {path}",
            expected=f'a stamp of format {FORMAT} as "affidavit stamp" wrote it',
            saw=saw,
            means="Nobody can say which commit this code is; it is not taken for clean.",
            action='Run "affidavit stamp" again where the image is built, with this version of affidavit.',
            unaffected="facts read inside the training process",
        )
    )


def find(folder: Path) -> Path | None:
    """The nearest stamp at or above a folder."""
    return next((place / NAME for place in (folder, *folder.parents) if (place / NAME).is_file()), None)


def judge(stamp: Stamp, path: str, sha256: str) -> tuple[FileVerdict, str]:
    """The verdict on bytes under a path, relative to the stamp's folder, and what a reader needs beside it."""
    line = stamp.files.get(PurePosixPath(path).as_posix())
    if line is None:
        return FileVerdict.NOT_IN_STAMP, ""
    if line.sha256 != sha256:
        return FileVerdict.DIFFERS_FROM_STAMP, ""
    if line.verdict in DESCRIBED:
        return FileVerdict.STAMPED, ""
    return line.verdict, "it was so when the stamp was made"


def rows(stamp: Stamp) -> Sequence[tuple[str, str]]:
    """The dirty files of a stamp with their verdicts, in the order of their paths."""
    return [(path, stamp.files[path].verdict.value) for path in sorted(stamp.dirty)]
