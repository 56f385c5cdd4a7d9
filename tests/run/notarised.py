"""A sealed run with two corrections, evidence and tokens, in a repository, vouched for as a project may ask."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import msgspec
from tests.record.record_world import FLASH, document, fact, record

from affidavit.record import chain, key, seal
from affidavit.record.manifest import Evidence, Manifest
from affidavit.record.standing import Standing
from affidavit.run.attesting import Notary

RUN = "run-1"
KEPT = {"evidence": b"what lay there", "tokens": b"what was said"}


@dataclass(frozen=True, kw_only=True)
class World:
    """A project with one run; ``stages`` are its folder as it was sealed, and after each of two corrections."""

    root: Path
    notary: Notary
    stranger: Notary

    @property
    def folder(self) -> Path:
        return self.root / ".affidavit" / "runs" / RUN

    @property
    def stages(self) -> tuple[Path, ...]:
        return tuple(sorted((self.root / "stages").iterdir()))

    def standing(self) -> Standing:
        return self.notary.verify(self.folder).worst

    def said(self, what: str) -> tuple[Standing, str]:
        """Return how one thing stands, and what was seen of it."""
        ((standing, said),) = [
            (one.standing, one.said) for one in self.notary.verify(self.folder).examined if one.what == what
        ]
        return standing, said


def manifest_of(word: str = "as it was", *, run: str = RUN) -> Manifest:
    """Return a manifest whose reader sees ``word`` in it."""
    held = document(record(fact("attention.executed", FLASH), fact("tokens.rows_examined", 4)))
    named = {name: hashlib.sha256(raw).hexdigest() for name, raw in KEPT.items()}
    evidence = tuple(
        Evidence(digest=f"sha256:{digest}", bytes=len(KEPT[name]), tokens=name == "tokens")
        for name, digest in named.items()
    )
    return msgspec.structs.replace(held, run=run, evidence=evidence, notes=(word,))


def world(root: Path, *, signed: bool = False, witnessed: bool = False) -> World:
    """Return a run that was sealed, corrected twice, and copied at each stage."""
    (root / ".affidavit" / "runs").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    (root / ".git" / "info" / "exclude").write_text("*\n")
    places = {name: {"XDG_CONFIG_HOME": str(root.parent / name)} for name in ("ours", "theirs")}
    for name, place in places.items():
        key.new(name, public=root / f"{name}.pub", environment=place)
    made = World(
        root=root,
        notary=Notary(
            root=root,
            key="ours" if signed else "",
            trusted=(root / "ours.pub",) if signed else (),
            witness="git" if witnessed else "none",
            environment=places["ours"],
        ),
        stranger=Notary(root=root, key="theirs", environment=places["theirs"]),
    )
    made.folder.mkdir()
    for name, raw in KEPT.items():
        (made.folder / name).mkdir()
        (made.folder / name / hashlib.sha256(raw).hexdigest()).write_bytes(raw)
    write(made.folder)
    assert made.notary.sealed(made.folder) == ()
    _stage(made)
    for term in ("attention.executed", "tokens.rows_examined"):
        chain.annotate(made.folder, falls=(term,), reason="it was another run's", author="ada")
        assert made.notary.corrected(made.folder) == ()
        _stage(made)
    return made


def write(folder: Path, word: str = "as it was", *, run: str = RUN) -> None:
    """Seal a run as anybody can who may write its folder, whatever lay there before."""
    for name in ("manifest.json", "head.json", "annotations.jsonl"):
        (folder / name).unlink(missing_ok=True)
    seal.seal(folder, manifest_of(word, run=run))


def replace(path: Path, raw: bytes) -> None:
    path.unlink(missing_ok=True)
    path.write_bytes(raw)


def _stage(made: World) -> None:
    (made.root / "stages").mkdir(exist_ok=True)
    shutil.copytree(made.folder, made.root / "stages" / str(len(list((made.root / "stages").iterdir()))))
