"""The names inside a run folder and a spool: both halves meet here and nowhere spell a file name themselves."""

from __future__ import annotations

from pathlib import Path

HELLO = "hello"
REFUSED = "hello.refused"
MANIFEST = "manifest.json"
ENVELOPE = "manifest.dsse.json"
HEAD_ENVELOPE = "head.dsse.json"
ANNOTATIONS = "annotations.jsonl"
HEAD = "head.json"
EVIDENCE = "evidence"
TOKENS = "tokens"
PANELS = "panels"
STACKS = "stacks"
EARLIER = "sealed"
"""The folder of the seals of earlier attempts, one folder each, with the annotations that followed them."""
LEDGER = "instruments.jsonl"
LOCK = "affidavit.lock"
ATTESTATIONS = "attestations.jsonl"
SETTINGS = "affidavit.toml"
CORRECTIONS = "affidavit.corrections"
"""The folder of what was corrected in files that are no run of ours; it is committed, so that others read it, too."""
MARK = "affidavit.json"
"""The one file of ours outside of our folders: beside a model that a run saved."""


def launch(folder: Path, attempt: int) -> Path:
    return folder / f"launch.{attempt}.json"


def journal(folder: Path, process: str, attempt: int) -> Path:
    return folder / f"journal.{attempt}.{process}.jsonl"


def heartbeat(folder: Path, process: str, attempt: int) -> Path:
    return folder / f"heartbeat.{attempt}.{process}"


def journals(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(folder.glob("journal.*.jsonl")))
