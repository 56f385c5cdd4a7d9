"""A folder of packages that a test writes, and a catalogue of it."""

from __future__ import annotations

from pathlib import Path

from affidavit.lint.catalogue import Catalogue
from affidavit.names.signature import Signature


def install(site: Path, files: dict[str, str], *, version: str = "1.0", record: bool = True) -> Path:
    """Write files below a site folder, with the metadata of one distribution for each top-level name."""
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for top in {name.partition("/")[0].removesuffix(".py") for name in files}:
        info = site / f"{top}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        if record:
            mine = [name for name in files if name.partition("/")[0].removesuffix(".py") == top]
            lines = [f"{name},sha256={hash(files[name])},{len(files[name])}" for name in mine]
            (info / "RECORD").write_text("\n".join(sorted(lines)) + "\n")
    return site


def read(site: Path, callee: str) -> Signature:
    """Return what a fresh catalogue without a store says of a callee; a Missing fails the test."""
    found = Catalogue([site], None).find(callee)
    assert isinstance(found, Signature), found
    return found


def names(site: Path, callee: str) -> list[str]:
    return list(read(site, callee).parameters)
