"""The list of loaded files that a rank left as evidence, read back; it may come from a stranger's run folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.fact import folder as names
from affidavit.fact.observation import Cause, State, Unknown
from affidavit.fact.values import Digest
from affidavit.observe.identity import LoadedFile
from affidavit.observe.interpreter import Interpreter
from affidavit.record.canonical import digest_bytes


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What one rank loaded: its own files with what was executed of them, and files of the environment.

    ``heads`` are the commits on which the repositories stood then, as far as that process could tell.
    """

    own: tuple[LoadedFile, ...]
    configs: frozenset[Path]
    installed: tuple[LoadedFile, ...]
    heads: Mapping[Path, str]
    interpreter: Interpreter


def read_listing(state: State, places: Sequence[Path], cwd: Path) -> Listing | Unknown:
    """Return what a ``code.listing`` stands for, or why it is unknown.

    Args:
        places: folders that may hold the evidence.
        cwd: of the command; a listed path may be relative to it.
    """
    if isinstance(state, Unknown):
        return state
    assert isinstance(state.value, Digest)
    content = evidence(state.value, places)
    if content is None:
        return Unknown(Cause.EVIDENCE_LOST, f"the list of loaded files {state.value} is gone or altered")
    own: list[LoadedFile] = []
    configs: set[Path] = set()
    installed: list[LoadedFile] = []
    heads: dict[Path, str] = {}
    interpreter: Interpreter | None = None
    try:
        for line in content.decode("utf-8", "surrogateescape").splitlines():
            said = json.loads(line)
            if said["kind"] in ("code", "config"):
                own.append(LoadedFile(path=_path(cwd, said), sha256=said["sha256"] or None))
                configs |= {_path(cwd, said)} if said["kind"] == "config" else set()
            elif said["kind"] == "installed":
                installed.append(LoadedFile(path=_path(cwd, said), seen=str(said.get("seen", ""))))
            elif said["kind"] == "head" and re.fullmatch(r"[0-9a-f]{40,64}", said["commit"]):
                heads[_path(cwd, said)] = said["commit"]
            elif said["kind"] == "python":
                interpreter = _interpreter(said)
    except (ValueError, KeyError, TypeError) as error:
        return Unknown(Cause.EVIDENCE_LOST, f"the list of loaded files {state.value} is none: {error!r}")
    if interpreter is None:
        return Unknown(Cause.EVIDENCE_LOST, f"the list of loaded files {state.value} does not say whose Python ran")
    return Listing(
        own=tuple(own),
        configs=frozenset(configs),
        installed=tuple(installed),
        heads=heads,
        interpreter=interpreter,
    )


def _interpreter(said: Mapping[str, Any]) -> Interpreter:
    return Interpreter.from_paths(
        prefix=str(said["prefix"]),
        base_prefix=str(said["base_prefix"]),
        sites=tuple(map(str, said["sites"])),
        stdlib=tuple(map(str, said["stdlib"])),
    )


def _path(cwd: Path, said: Mapping[str, str]) -> Path:
    if "\0" in said["path"]:
        raise ValueError("a path with a zero byte")
    return cwd / said["path"]


def evidence(digest: Digest, places: Iterable[Path]) -> bytes | None:
    """Return the content that has this digest, or None where it is gone or altered."""
    for place in places:
        try:
            content = (place / names.EVIDENCE / digest.hex).read_bytes()
        except OSError:
            continue
        if digest_bytes(content) == digest:
            return content
    return None
