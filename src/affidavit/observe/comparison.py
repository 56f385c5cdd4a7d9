"""A file whose raw bytes are not the commit's blob: edited, or only rewritten on its way out of git?

Git compares NORMALISED bytes. A clean filter that turns `K=2` back into `K=1` makes an edit invisible to
every git command; so does `autocrlf`, harmlessly. Both digests are needed to tell them apart.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from affidavit.observe.error import GitRefusedError
from affidavit.observe.git import ask
from affidavit.observe.repository import SYMLINK, Repository

_LFS_BYTES: Final = 1024
_LFS: Final = re.compile(rb"\Aversion https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n")
_ATTRIBUTES: Final = ("filter", "ident", "working-tree-encoding", "text", "eol")


class Difference(Enum):
    """How raw bytes differ from the commit's blob."""

    SAME_CONTENT = "same-content"
    LINE_ENDINGS = "line-endings"
    CHECKOUT = "checkout"
    HIDDEN = "hidden"
    EDITED = "edited"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The difference and, in words, what explains it (the filter, the refusal)."""

    difference: Difference
    detail: str


def compare(repository: Repository, paths: Sequence[str]) -> Mapping[str, Comparison]:
    """For each path in the commit whose raw blob id differs: what kind of difference it is.

    A file that is exactly what a checkout of the commit writes (line endings, `$Id$`, a smudge filter) is
    described by the commit. A file that git calls equal and that no checkout would write is a hidden edit.

    Args:
        paths: as the commit spells them; each is a regular file on disk and in the commit.
    Returns:
        One comparison a path; a path on which git or its filter failed reads REFUSED, never clean.
    Source: playbook §4.4; gitattributes(5); the LFS pointer format, spec v1.
    Blind to: a filter driver that answers differently the next time it is asked.
    """
    try:
        return _compare_all(repository, paths)
    except GitRefusedError:
        return {path: _compare_alone(repository, path) for path in paths}


def committed_bytes(repository: Repository, paths: Sequence[str]) -> Mapping[str, bytes]:
    """The bytes of the commit's blobs, no filter applied, from one git process.

    Raises:
        GitRefusedError: an object is missing (a partial clone; nothing is fetched).
    """
    ids = [repository.blobs[path].id for path in paths]
    rest = ask(repository.top, "cat-file", "--batch", stdin="".join(f"{i}\n" for i in ids).encode()).stdout
    found: dict[str, bytes] = {}
    for path in paths:
        header, _, rest = rest.partition(b"\n")
        if not header.split()[-1].isdigit():
            raise GitRefusedError(
                f"git.object: expected the committed bytes of {path} (commit), saw {header.decode()!r} (git).\n"
                f"This means an edit cannot be told from a filter. Run "
                f'"git -C {repository.top} fsck" or fetch the missing objects.\n'
                f"Not affected: files whose raw bytes equal the commit's."
            )
        size = int(header.split()[-1])
        found[path], rest = rest[:size], rest[size + 1 :]
    return found


def _compare_alone(repository: Repository, path: str) -> Comparison:
    """One file, so that a filter that fails on it takes no other file's verdict away."""
    try:
        return _compare_all(repository, (path,))[path]
    except GitRefusedError as refused:
        return Comparison(difference=Difference.REFUSED, detail=str(refused))


def _compare_all(repository: Repository, paths: Sequence[str]) -> dict[str, Comparison]:
    committed = committed_bytes(repository, paths)
    decided: dict[str, Comparison] = {}
    for path in paths:
        early = _without_git(repository, path, committed[path])
        if early is not None:
            decided[path] = early
    normalised = _normalised(repository, [path for path in paths if path not in decided])
    rewritten = [path for path, blob in normalised.items() if blob == repository.blobs[path].id]
    attributes = _attributes(repository, rewritten)
    for path in normalised:
        if path in attributes:
            decided[path] = _by_filter(repository, path, committed[path], attributes[path])
        else:
            decided[path] = Comparison(difference=Difference.EDITED, detail="")
    return decided


def _without_git(repository: Repository, path: str, committed: bytes) -> Comparison | None:
    """What needs no filter to be run: a git-lfs pointer names the sha256 of the real content."""
    if repository.blobs[path].mode == SYMLINK:
        return Comparison(difference=Difference.EDITED, detail="the commit holds a symbolic link here")
    pointer = _LFS.match(committed) if len(committed) < _LFS_BYTES else None
    if pointer is None:
        return None
    with (repository.top / path).open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() == pointer[1].decode():
            return Comparison(difference=Difference.SAME_CONTENT, detail="git-lfs pointer names these bytes")
    return Comparison(difference=Difference.EDITED, detail="git-lfs pointer names other bytes")


def _normalised(repository: Repository, paths: Sequence[str]) -> dict[str, str]:
    """The blob id that git would give each file after its clean filters; nothing is written."""
    asked = [path for path in paths if "\n" not in path]
    stdin = b"".join(os.fsencode(path) + b"\n" for path in asked)
    ids = ask(repository.top, "hash-object", "--stdin-paths", stdin=stdin).stdout.decode().split()
    return dict.fromkeys(paths, "") | dict(zip(asked, ids, strict=True))


def _by_filter(repository: Repository, path: str, committed: bytes, by: str) -> Comparison:
    raw = (repository.top / path).read_bytes()
    if raw.replace(b"\r\n", b"\n") == committed.replace(b"\r\n", b"\n"):
        return Comparison(difference=Difference.LINE_ENDINGS, detail=f"line endings only ({by})")
    if ask(repository.top, "cat-file", "--filters", f"--path={path}", repository.blobs[path].id).stdout == raw:
        return Comparison(difference=Difference.CHECKOUT, detail=f"what a checkout writes ({by})")
    return Comparison(difference=Difference.HIDDEN, detail=f"git calls it equal after a filter ({by})")


def _attributes(repository: Repository, paths: Sequence[str]) -> dict[str, str]:
    """The attributes and settings by which git rewrites each path, as one would look for them."""
    stdin = b"".join(os.fsencode(path) + b"\0" for path in paths)
    fields = ask(repository.top, "check-attr", "--stdin", "-z", *_ATTRIBUTES, stdin=stdin).records
    settings = [f"{s.key}={s.value}" for s in repository.settings if s.key in ("core.autocrlf", "core.eol")]
    found: dict[str, list[str]] = {path: [] for path in paths}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        if value not in ("unspecified", "unset"):
            found[path].append(f"{name}={value}")
    return {path: ", ".join(words + settings) or "no attribute names it" for path, words in found.items()}
