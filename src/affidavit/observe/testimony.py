"""What a repository remembers of seals: a chain of commits under a ref of ours that nothing of the user's points to.

Whoever holds a run folder can rewrite all of it, so that it agrees with itself. What was said of it elsewhere, he
cannot. Each entry is the message of a commit without files on top of the one before.

Source: anchors-provenance §11.3 (the head must be written where the owner does not edit); gitnamespaces(7).
Blind to: who holds the repository, too, and moves the ref; push it elsewhere, "git push REMOTE 'refs/affidavit/*'".
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from affidavit.observe.error import GitRefusedError, ObserveError
from affidavit.observe.git import ask
from affidavit.observe.snapshot import AUTHOR, is_ref_name

PLACE: Final = "refs/affidavit/seals"
TRIES: Final = 5
MOST_ENTRIES: Final = 10_000


class TestimonyError(ObserveError):
    """A run has no name under which a repository can remember it, or what is remembered is none of ours."""

    __test__ = False  # for pytest it looks like a class of tests


def ref(run: str) -> str:
    """Return the ref under which the seals of a run are remembered.

    Raises:
        TestimonyError: the id is no part of a ref's name.
    """
    if not is_ref_name(run):
        raise TestimonyError(f"witness: expected a plain name of a run (letters, digits, . _ -), saw {run!r:.80}.")
    return f"{PLACE}/{run}"


def remember(folder: Path, run: str, entry: bytes) -> None:
    """Let the repository around a folder remember an entry; one that is the last already is not repeated.

    Index, HEAD, branches, stash and work tree are byte-identical afterwards.

    Raises:
        TestimonyError: the id is no part of a ref's name.
        ObserveError: no git, no repository, or one that cannot be written.
    """
    name = ref(run)
    for left in reversed(range(TRIES)):
        tip = _tip(folder, name)
        if tip and _message(_objects(folder, (tip,))[0]) == entry:
            return
        tree = ask(folder, "hash-object", "-w", "-t", "tree", "--stdin").text
        parent = ("-p", tip) if tip else ()
        made = ask(folder, "commit-tree", "--no-gpg-sign", *parent, tree, stdin=entry, extra=AUTHOR).text
        try:
            ask(folder, "update-ref", "--no-deref", name, made, tip or "0" * len(made))
        except GitRefusedError:
            if not left or _tip(folder, name) == tip:  # nobody else was faster: it cannot be written
                raise
        else:
            return


def recall(folder: Path, run: str) -> tuple[bytes, ...]:
    """Return what the repository around a folder remembers of a run, the oldest first; nothing where it never heard.

    Raises:
        TestimonyError: the id is no part of a ref's name, or the ref holds what we do not write.
        ObserveError: no git or no repository.
    """
    tip = _tip(folder, ref(run))
    if not tip:
        return ()
    listed = ask(folder, "rev-list", "--first-parent", "--reverse", f"--max-count={MOST_ENTRIES}", tip).text.split()
    if not listed:
        raise TestimonyError(f"witness: expected a commit under {ref(run)}, saw another object.")
    return tuple(map(_message, _objects(folder, tuple(listed))))


def _tip(folder: Path, name: str) -> str:
    ask(folder, "rev-parse", "--git-dir")  # so that no repository is told apart from no ref
    return ask(folder, "rev-parse", "--verify", "--quiet", name, accept=(0, 1)).text


def _objects(folder: Path, ids: tuple[str, ...]) -> list[bytes]:
    """Return the raw commits of these ids."""
    raw = ask(folder, "cat-file", "--batch", stdin="".join(f"{one}\n" for one in ids).encode()).stdout
    found: list[bytes] = []
    for one in ids:
        head, _, raw = raw.partition(b"\n")
        told = re.fullmatch(rb"[0-9a-f]+ commit ([0-9]+)", head)
        if told is None:
            raise TestimonyError(f"witness: expected a commit {one}, saw {head!r:.80}.")
        found.append(raw[: int(told[1])])
        raw = raw[int(told[1]) + 1 :]
    return found


def _message(commit: bytes) -> bytes:
    return commit.partition(b"\n\n")[2].removesuffix(b"\n")
