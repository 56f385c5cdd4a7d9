"""Code identity, the inside half: every file whose code ran and every config that was opened, with its digest."""

from __future__ import annotations

import json
import os
import site
import sys

from affidavit.attach.instrument import Emit, Instrument, at
from affidavit.attach.moment import StepEnd
from affidavit.fact.observation import Cause
from affidavit.fact.term import Method
from affidavit.fact.values import Tally


class LoadedFiles(Instrument):
    """Emits how many files were loaded, and keeps the list: first-party files with the digest of what was executed.

    Whose they are and what a commit says of them is found outside, at the seal. Files of installed distributions are
    listed without a digest; they are hashed outside, off the run's path.

    Source: anchors-provenance §3 (bytes of what was imported catch 16 of 16 traps, git's own questions 2 to 6).
    Blind to: native file access, code made at run time (exec of a string), files first loaded after the sampled step.
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
        lines += _lines("installed", dict.fromkeys(listing.elsewhere, ""))
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
