"""Code identity, the inside half: every file whose code ran and every config that was opened, with its digest."""

from __future__ import annotations

import json
import os
import re
import site
import sys
from collections.abc import Iterable
from pathlib import Path

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import StepEnd
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Tally


class LoadedFiles(Instrument):
    """Emits how many files were loaded, and keeps the list: first-party files with the digest of what was executed.

    Whose they are and what a commit says of them is found outside, at the seal. Files of installed distributions are
    listed without a digest; they are hashed outside, off the run's path, and their size and time say whether they
    are still those that were loaded. Where HEAD stands is read here, because a
    commit made while the run goes on is none that it ran.

    Source: anchors-provenance §3 (bytes of what was imported catch 16 of 16 traps, git's own questions 2 to 6).
    Blind to: native file access, code made at run time (exec of a string), files first loaded after the sampled step;
    where HEAD stands in a repository that keeps its refs in tables.
    """

    name = "loaded files"
    emits = ("code.loaded", "code.listing")
    budget_seconds = 4.0

    @at(StepEnd, sampled=True)
    def loaded(self, moment: StepEnd, emit: Emit) -> None:
        early = sys.modules.get("_affidavit_early")
        if early is None:
            for term in self.emits:
                emit.unknown(term, Cause.ATTACHED_LATE, "the interpreter started without us")
            return
        listing = early.listing
        listing.add_modules(sys.modules)
        listing.close()
        lines = [json.dumps({"kind": "python", **_folders()})]
        lines += _lines("code", listing.digests)
        lines += _lines("config", listing.configs)
        lines += [json.dumps({"kind": "head", "path": top, "commit": head}) for top, head in _heads(listing.digests)]
        lines += _installed(listing.elsewhere)
        digest = emit.evidence("\n".join(lines).encode("utf-8", "surrogateescape"))
        counts = {"code": len(listing.digests), "config": len(listing.configs), "installed": len(listing.elsewhere)}
        source = f"audit of this interpreter until step {moment.step}"
        if listing.late:
            source += ", which began after its first imports"
        if listing.missed:
            source += f", which could not follow {listing.missed} of them"
        emit.known("code.loaded", Tally.count("files", counts), source=source, method=Method.EXECUTED)
        emit.known("code.listing", digest, source=source, method=Method.EXECUTED)


def _folders() -> dict[str, object]:
    """Return where this environment keeps what was installed and what came with Python.

    Told by the process itself, so that nobody has to start its interpreter to ask: a run folder may be a stranger's.
    """
    sites = [place for place in sys.path if place.endswith(("site-packages", "dist-packages"))]
    sites += [*site.getsitepackages(), site.getusersitepackages()]
    stdlib = [os.path.dirname(os.__file__), *(place for place in sys.path if place.endswith(".zip"))]  # noqa: PTH120
    return {"prefix": sys.prefix, "base_prefix": sys.base_prefix, "sites": sites, "stdlib": stdlib}


def _lines(kind: str, files: dict[str, str]) -> list[str]:
    return [json.dumps({"kind": kind, "path": path, "sha256": digest}) for path, digest in files.items()]


def _installed(files: Iterable[str]) -> list[str]:
    """Return a line for each installed file, with its size and time of change where it is a file."""
    lines: list[str] = []
    for path in files:
        try:
            found = os.stat(path)  # noqa: PTH116  three thousand of them, in the run's own process
        except (OSError, ValueError):
            seen = ""
        else:
            seen = f"{found.st_size} {found.st_mtime_ns}"
        lines.append(json.dumps({"kind": "installed", "path": path, "seen": seen}))
    return lines


def _heads(files: Iterable[str]) -> list[tuple[str, str]]:
    """Return each repository around some files with the commit its HEAD names; git itself is not started in a run."""
    tops: dict[str, None] = {}
    seen: set[str] = set()
    for file in files:
        folder = os.path.dirname(os.path.realpath(file))  # noqa: PTH120
        while folder not in seen:
            seen.add(folder)
            if os.path.lexists(f"{folder}/.git"):
                tops[folder] = None
                break
            folder = os.path.dirname(folder)  # noqa: PTH120
    heads = ((top, _head(Path(top))) for top in tops)
    return [(top, head) for top, head in heads if head]


def _head(top: Path) -> str:
    """Return the commit of a work tree, or "" where nothing but git can tell."""
    try:
        place = top / ".git"
        if place.is_file():  # a submodule, or a work tree of its own
            place = top / place.read_text().removeprefix("gitdir:").strip()
        shared = place / "commondir"
        places = [place, place / shared.read_text().strip()] if shared.is_file() else [place]
        head = (place / "HEAD").read_text().strip()
        if head.startswith("ref: "):
            head = _ref(places, head.removeprefix("ref: "))
    except (OSError, ValueError):
        return ""
    return head if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", head) else ""


def _ref(places: Iterable[Path], name: str) -> str:
    for place in places:
        if (place / name).is_file():
            return (place / name).read_text().strip()
    for place in places:
        if (place / "packed-refs").is_file():
            for line in (place / "packed-refs").read_text().splitlines():
                if line.endswith(f" {name}"):
                    return line.partition(" ")[0]
    return ""
