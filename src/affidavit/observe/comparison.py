"""A file whose raw bytes are not the commit's blob: edited, or only rewritten on its way out of git?

Git compares NORMALISED bytes. A clean filter that turns `K=2` back into `K=1` makes an edit invisible to
every git command; so does `autocrlf`, harmlessly. Both digests are needed to tell them apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from .error import GitRefusedError
from .git import ask
from .repository import SYMLINK, Repository

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
    result: dict[str, Comparison] = {}
    for path in paths:
        try:
            result[path] = _compare_one(repository, path)
        except GitRefusedError as refused:
            result[path] = Comparison(difference=Difference.REFUSED, detail=str(refused))
        except OSError as error:
            result[path] = Comparison(difference=Difference.REFUSED, detail=f"{type(error).__name__}: {error}")
    return result


def committed_bytes(repository: Repository, path: str) -> bytes:
    """The bytes of the commit's blob at `path`, no filter applied."""
    return ask(repository.top, "cat-file", "blob", repository.blobs[path].id).stdout


def _compare_one(repository: Repository, path: str) -> Comparison:
    blob = repository.blobs[path]
    raw = (repository.top / path).read_bytes()
    committed = committed_bytes(repository, path)
    pointer = _LFS.match(committed) if len(committed) < _LFS_BYTES else None
    if pointer is not None:
        if hashlib.sha256(raw).hexdigest() == pointer[1].decode():
            return Comparison(difference=Difference.SAME_CONTENT, detail="git-lfs pointer names these bytes")
        return Comparison(difference=Difference.EDITED, detail="git-lfs pointer names other bytes")
    if blob.mode == SYMLINK:
        return Comparison(difference=Difference.EDITED, detail="the commit holds a symbolic link here")
    if _normalised(repository, path) != blob.id:
        return Comparison(difference=Difference.EDITED, detail="")
    by = _filters(repository, path)
    if raw.replace(b"\r\n", b"\n") == committed.replace(b"\r\n", b"\n"):
        return Comparison(difference=Difference.LINE_ENDINGS, detail=f"line endings only ({by})")
    if ask(repository.top, "cat-file", "--filters", f"--path={path}", blob.id).stdout == raw:
        return Comparison(difference=Difference.CHECKOUT, detail=f"what a checkout writes ({by})")
    return Comparison(difference=Difference.HIDDEN, detail=f"git calls it equal after a filter ({by})")


def _normalised(repository: Repository, path: str) -> str:
    if "\n" in path:
        raise GitRefusedError(f"git.path: expected a name without a line break, saw {path!r}.")
    return ask(repository.top, "hash-object", "--stdin-paths", stdin=path.encode("utf-8", "surrogateescape")).text


def _filters(repository: Repository, path: str) -> str:
    """The attributes and settings by which git rewrites this path, as one would look for them."""
    fields = ask(repository.top, "check-attr", "-z", *_ATTRIBUTES, "--", path).records
    attributes = [
        f"{name}={value}"
        for _, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True)
        if value not in ("unspecified", "unset")
    ]
    settings = [f"{s.key}={s.value}" for s in repository.settings if s.key in ("core.autocrlf", "core.eol")]
    return ", ".join(attributes + settings) or "no attribute names it"
