"""A cache that a project declares: what it is built of, and through which function."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A cache of the project's own, and how its rows come about; paths are relative to the project.

    Args:
        raw: the file whose rows are built from, one of one.
        entry: a pattern of the files, or folders of shards, that hold what was built.
        build: ``module:function``, which makes a row of the entry of a row of ``raw``.
        manifest: the JSON file in which the script says what it encoded with; "" where it is found by its place.
    """

    name: str
    raw: str
    entry: str
    build: str
    manifest: str = ""


def is_function(said: str) -> bool:
    """Say whether a text names a function as ``module:function`` does."""
    module, colon, function = said.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), *function.split(".")))
