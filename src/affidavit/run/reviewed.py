"""Whether whose signature is believed here is what a commit says, so that a key that was swapped since shows.

Whoever may write a project may write its settings, too: his own key in the place of another makes every signature of
his hold. A commit is what others have seen.

Source: anchors-provenance §11.3 (a witness lies where the owner does not edit).
Blind to: a commit that was made of the swapped key; a project of which no commit names a key yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import tomllib

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError
from affidavit.observe import git
from affidavit.observe.error import ObserveError
from affidavit.record import envelope, file, key
from affidavit.record.key import PublicKey
from affidavit.record.standing import Examined, Standing
from affidavit.record.trust import Named

WHAT = "trusted key"


def reviewed(folder: Path, root: Path, trusted: Iterable[Named]) -> Examined | None:
    """Return what is to be said of the key that signed a run folder; None where it is the one that a commit names.

    Args:
        trusted: the keys that the settings name today.
    """
    try:
        signer = envelope.read(folder / names.ENVELOPE).key
    except AffidavitError:
        return None  # it is told as unsigned, or as broken
    held = [one for one in trusted if _id(one) == signer]
    listed = _listed(_committed(root, names.SETTINGS))
    if not held or not listed or any(_is_committed(root, one, listed) for one in held):
        return None
    called = held[0].name
    said = f"{called!a} is not what the last commit names: whoever changed it chose whose signature holds"
    return Examined(what=WHAT, standing=Standing.UNCHECKED, said=said)


def _id(one: Named) -> str:
    try:
        return one.id if isinstance(one, PublicKey) else key.read_public(one).id
    except AffidavitError:
        return ""


def _is_committed(root: Path, one: Named, listed: Iterable[str]) -> bool:
    if isinstance(one, PublicKey):
        return any(item.partition(" ")[0] == key.line(one, "").strip() for item in listed)
    for item in listed:
        if root / item == one:
            committed = _committed(root, item)
            return committed is None or committed == file.read(one, limit=key.SIZE_BYTES)
    return False


def _listed(settings: bytes | None) -> tuple[str, ...]:
    """Return the keys that settings trust, as they stand there; none where they cannot be read."""
    try:
        found = tomllib.loads((settings or b"").decode()).get("seal", {}).get("trusted", [])
    except (ValueError, AttributeError, RecursionError):
        return ()
    return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()


def _committed(root: Path, path: str) -> bytes | None:
    """Return what the last commit holds under a path of the project; None where it holds nothing, or none is there."""
    try:
        return git.ask(root, "show", f"HEAD:./{path}").stdout
    except ObserveError:
        return None
