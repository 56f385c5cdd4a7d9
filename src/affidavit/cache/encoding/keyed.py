"""The key of rows that are encoded: the function with all that it reaches, the rows, the masks, and how it is called.

Source: anchors-mechanisms C1, recommended design 1 and 6.
Blind to: what :mod:`affidavit.cache.key` is blind to.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from affidavit.cache.encoding import tell
from affidavit.cache.encoding.masks import parts_of
from affidavit.cache.encoding.work import Work
from affidavit.cache.key import KeyRefusedError, preimage_of
from affidavit.cache.preimage import IRRELEVANT, Part, Preimage, canonical, digest_of, shown
from affidavit.cache.store import TRACED, Store
from affidavit.cache.store.rows import part_of

_PROBED = 2


def key_of(
    work: Work,
    store: Store,
    *,
    config: Any = None,
    artifacts: Iterable[str | Path] | Mapping[str, str | Path] = (),
    covers: Mapping[str, Any] | None = None,
    irrelevant: Mapping[str, str],
) -> Preimage:
    """Return all that the rows of a work are made of.

    The function is called with a few rows, in a child, to see what it reaches for. Where that was nothing, this is
    remembered: as long as all else is the same, it has no way to come to anything.

    Raises:
        KeyRefusedError: a part cannot be computed.
    """
    said = covering(config, covers, artifacts)
    plain: Preimage | None = None
    every = (part_of(work.dataset, store.place), *parts_of(work.masks), *_settings(work))
    own = tuple(_left_out(part, irrelevant) or part for part in every)
    met = {str(part) for part in every if _left_out(part, irrelevant)}
    irrelevant = {name: why for name, why in irrelevant.items() if name not in met}
    name = ""
    keyed = functools.partial(preimage_of, work.function, tokenizer=work.tokenizer, irrelevant=irrelevant, **said)
    try:
        plain = Preimage((*keyed().parts, *own))
        name = f"{TRACED}/{plain.digest[7:]}"
        if store.place.has(name):
            return plain
    except KeyRefusedError:  # it reaches for something, and only a call says for what
        plain = None
    seen = Preimage((*keyed(rows=_probes(work)).parts, *own))
    if plain is not None and seen == plain:
        _remember(store, name)
    return seen


def covering(config: Any, covers: Mapping[str, Any] | None, artifacts: Any) -> dict[str, Any]:
    """Return what counts in the words of :func:`preimage_of`: paths that exist by content, all else by value."""
    if not covers:
        return {"config": config, "artifacts": artifacts}
    paths = {name: value for name, value in covers.items() if isinstance(value, Path)}
    rest = {name: value for name, value in covers.items() if name not in paths}
    if not isinstance(artifacts, Mapping):
        artifacts = (artifacts,) if isinstance(artifacts, (str, Path)) else artifacts
        artifacts = {str(path): path for path in artifacts}
    return {"config": {**({} if config is None else {"config": config}), **rest}, "artifacts": {**artifacts, **paths}}


def _left_out(part: Part, irrelevant: Mapping[str, str]) -> Part | None:
    """Return what stands in the place of a part that somebody left out by its whole name, with the reason."""
    why = irrelevant.get(str(part), "")
    return Part(IRRELEVANT, str(part), digest_of(canonical(str(part))), shown(why)) if why.strip() else None


def _remember(store: Store, name: str) -> None:
    try:
        store.place.put_new(name, b"{}")
    except OSError as error:
        tell.note(f"what a function reads cannot be remembered: {error}")


def _settings(work: Work) -> tuple[Part, ...]:
    from datasets import __version__

    said: dict[str, Any] = {
        "batched": work.batched,
        "datasets": __version__,
        "features": str(work.features),
        "removed": sorted(work.removed),
    }
    if work.batched:
        said["batch_size"] = work.batch_size
    if work.masks:
        said["messages"] = work.messages
    return tuple(Part("encode", name, digest_of(canonical(value)), str(value)[:200]) for name, value in said.items())


def _probes(work: Work) -> list[Any]:
    """Return a few rows from the beginning, the middle and the end, as the function gets them."""
    rows, dataset = len(work.dataset), work.dataset
    places = sorted({0, rows // 2, max(rows - _PROBED, 0)})
    if work.batched:
        return [dataset[at : at + _PROBED] for at in places]
    return [dataset[at] for at in places]
