"""``@affidavit.cached``: a function whose results are kept under a key that covers what they are made from.

Besides what :mod:`affidavit.cache.key` covers, the key holds each argument by its content: a path counts by the file
that lies there. What comes back on a hit is what came back when it was made, and nobody else's to change.

Source: hf-stack-spike §5: joblib served the old result after a closure value, a callee or a file behind a path moved.
Blind to: what a function does besides returning; it is not done again on a hit.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, overload

from affidavit.attach.moment import CacheHit
from affidavit.cache.encoding import tell
from affidavit.cache.encoding.accuse import is_covered, opened
from affidavit.cache.encoding.hit import built_with
from affidavit.cache.encoding.keyed import covering
from affidavit.cache.key import KeyRefusedError, preimage_of
from affidavit.cache.preimage import Preimage
from affidavit.cache.store import Build, Store, plainly
from affidavit.cache.store.entry import Entry
from affidavit.cache.store.plainly import NotPlainError
from affidavit.fact.errors import refusal

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def cached(function: Function, /) -> Function: ...


@overload
def cached(
    *,
    store: Store | str | Path | None = None,
    covers: Mapping[str, Any] | None = None,
    config: Any = None,
    tokenizer: Any = None,
    artifacts: Iterable[str | Path] | Mapping[str, str | Path] = (),
    irrelevant: Mapping[str, str] | None = None,
) -> Callable[[Function], Function]: ...


def cached(
    function: Callable[..., Any] | None = None,
    /,
    *,
    store: Store | str | Path | None = None,
    covers: Mapping[str, Any] | None = None,
    config: Any = None,
    tokenizer: Any = None,
    artifacts: Iterable[str | Path] | Mapping[str, str | Path] = (),
    irrelevant: Mapping[str, str] | None = None,
) -> Any:
    """Return a function that calls the one below it only where no result lies under the same key.

    A result is plain data, arrays, tables, or dicts, lists and tuples of these. Anything else, and a call of which a
    part has no content, is computed each time, and said once.

    Args:
        store: a store or its folder; the project's own by default.
        covers: more that the result depends on, by name: plain values, and paths by their content.
        config, tokenizer, artifacts: count as in :func:`affidavit.cache.encode`.
        irrelevant: name of a part of the key → why it cannot move the result.
    """
    if function is None:
        return functools.partial(
            cached,
            store=store,
            covers=covers,
            config=config,
            tokenizer=tokenizer,
            artifacts=artifacts,
            irrelevant=irrelevant,
        )
    said = {**covering(config, covers, artifacts), "tokenizer": tokenizer, "irrelevant": irrelevant}
    call, signature = function, inspect.signature(function)

    @functools.wraps(call)
    def kept(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        place = store if isinstance(store, Store) else Store(store)
        try:
            preimage = _preimage(call, bound, said)
        except KeyRefusedError as error:
            tell.warn(f"{call.__qualname__} is not cached. {error}")
            return call(*args, **kwargs)
        entry, aside = place.whole(preimage.digest)
        if aside:
            tell.warn(f"{call.__qualname__}: a damaged result is set aside as {', '.join(aside)}, and made again.")
        again = functools.partial(call, *args, **kwargs)
        if entry is None:
            return _made(again, call.__qualname__, place, preimage, _paths(bound, said))
        tell.fire(_hit(call, again, entry))
        return _read(entry)

    return kept


def _preimage(call: Callable[..., Any], bound: inspect.BoundArguments, said: Mapping[str, Any]) -> Preimage:
    """Return the key of one call; each argument is a part of it by its name, a path by what lies there."""
    config = {} if said["config"] is None else {"config": said["config"]}
    artifacts = said["artifacts"]
    named = dict(artifacts) if isinstance(artifacts, Mapping) else {str(path): path for path in artifacts}
    for name, value in bound.arguments.items():
        if isinstance(value, Path) and value.exists():
            named[f"argument {name}"] = value
        else:
            config[f"argument {name}"] = value
    return preimage_of(
        call, config=config or None, artifacts=named, tokenizer=said["tokenizer"], irrelevant=said["irrelevant"]
    )


def _paths(bound: inspect.BoundArguments, said: Mapping[str, Any]) -> list[Path]:
    artifacts = said["artifacts"]
    named = artifacts.values() if isinstance(artifacts, Mapping) else artifacts
    return [Path(path) for path in (*named, *(one for one in bound.arguments.values() if isinstance(one, Path)))]


def _made(call: Callable[[], Any], name: str, store: Store, preimage: Preimage, covered: Sequence[Path]) -> Any:
    """Call the function, keep what it returns, and return it as it will be read back."""
    with store.building(preimage) as build:
        entry = store.find(preimage.digest)
        if entry is not None:
            return _read(entry)
        with opened() as files:
            value = call()
        unseen = [file for file in files if not is_covered(file, covered)]
        if unseen:
            tell.warn(_accused(name, unseen))
            return value
        try:
            entry = _written(build, value)
        except NotPlainError as error:
            tell.warn(f"{name} is not cached: {error}, which has no plain form.")
            return value
        except OSError as error:
            tell.warn(f"{name} is not cached: {error.strerror or error}.")
            return value
    return _read(entry)


def _accused(name: str, files: Sequence[str]) -> str:
    return refusal(
        subject=f"{name} is not cached",
        expected="a function that reads only what its key holds",
        saw=f"it opened {', '.join(Path(file).name for file in files[:3])}",
        means="Under a key without that file an old result would be served when the file changes.",
        action="Name it in artifacts= or covers=, or take it as an argument of type Path.",
        unaffected="what the function returned",
    )


def _written(build: Build, value: Any) -> Entry:
    said, beside = plainly.taken_apart(value)
    rows = [(plainly.text(said), "json")]
    for kind, part in beside:
        rows.append((plainly.array_bytes(part) if kind == plainly.NPY else plainly.table_bytes(part), kind))
    for at, (data, suffix) in enumerate(rows):
        with build.shard(at, made_of=1, suffix=suffix) as draft:
            draft.path.write_bytes(data)
            draft.rows = 1
    found = build.finished(check=False)
    return build.publish(tuple(found[at] for at in range(len(rows))), form="value", facts={"parts": len(rows)})


def _read(entry: Entry) -> Any:
    """Return the value of an entry, a new one each time."""
    text, *rest = entry.files

    def beside(number: int) -> Any:
        data = rest[number].read_bytes()
        return plainly.array_from(data) if rest[number].suffix == f".{plainly.NPY}" else plainly.table_from(data)

    return plainly.put_together(json.loads(text.read_bytes()), beside)


def _hit(call: Callable[..., Any], again: Callable[[], Any], entry: Entry) -> CacheHit:
    return CacheHit(
        cache="affidavit.cached",
        entry=entry.key[7:19],
        function=call,
        rows=1,
        stored=lambda _: [_read(entry)],
        recompute=lambda _: [again()],
        written=entry.written,
        built=built_with(entry),
    )
