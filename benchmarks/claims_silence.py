"""What the search for old numbers says of documentation that nobody copied one into, and of every copy planted.

python benchmarks/claims_silence.py

The claims and the forms of their copies are those of claims_silence.toml. The documentation is what the packages of
that list ship: every text file of theirs, and their modules with docstrings, comments and code. An alarm there is
false, as those who wrote it never heard of the claims; it is read through once more for twenty other values of each
claim. Each copy is planted in a file of its own, in turn a Markdown
page, a launcher, a config and a script, between lines of the page that it stands in. The thresholds were set on these
forms and packages; a second set, written afterwards and tuned to nothing, is counted beside them.

Blind to: what is missed among forms that nobody thought of.
"""

from __future__ import annotations

import datetime
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomllib
from measuring import write

from affidavit.claims.copies import Copy, copies, formers
from affidavit.record.measurement import Measurement, Measurements

LIST = Path(__file__).with_name("claims_silence.toml")
SUFFIXES = (".md", ".rst", ".txt", ".py", ".yaml", ".yml", ".toml", ".sh", ".pyi", ".cfg")
CARRIERS = {
    "page.md": "# Notes for the next run\n\nRead this before you start anything.\n\n{said}\n\nAsk us about the rest.\n",
    "launch.sh": "#!/bin/bash\nset -euo pipefail\n\n# {said}\nsrun python main.py --config conf.yaml\n",
    "conf.yaml": "model: tiny\n# {said}\nseed: 7\n",
    "main.py": '"""Starts the run.\n\n{said}\n"""\n\nSEED = 7\n',
}
FACTORS = (1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 0.5, 0.6, 0.8, 1.2, 0.1, 0.2, 0.25, 0.33, 0.4, 0.7, 0.9)
FORMS, CLAIMS = 100, 30
"""Fewer than these would prove nothing."""


def main() -> int:
    chosen = tomllib.loads(LIST.read_text())
    told = formers(measured(chosen["claim"]))
    site = Path(sysconfig.get_paths()["purelib"])
    texts = {package: shipped(site, package) for package in chosen["packages"]}
    alarms = [said(one, site) for files in texts.values() for one in copies(told, files)]
    others = [{**one, **other} for one in chosen["claim"] for other in variants(one)]
    varied = [old for one in others for old in formers(measured([one]))]
    alarms_of_varied = [said(one, site) for files in texts.values() for one in copies(varied, files)]
    planted, missed = lost(chosen["claim"])
    held_out = chosen["held_out"]
    unseen = [path for package in held_out["packages"] for path in shipped(site, package)]
    alarms_held_out = [said(one, site) for one in copies(formers(measured(held_out["claim"])), unseen)]
    planted_held_out, missed_held_out = lost(held_out["claim"])
    assert len(told) >= CLAIMS and planted >= FORMS and all(texts.values()), "too little to prove anything"
    return write(
        "claims_silence",
        promised={"false_alarms": 0.0, "varied_alarms": 0.0, "missed": 0.0, "held_out_alarms": 0.0},
        found={
            "claims": float(len(told)),
            "files": float(sum(map(len, texts.values()))),
            "megabytes": sum(path.stat().st_size for files in texts.values() for path in files) / 1e6,
            "false_alarms": float(len(alarms)),
            "varied": float(len(varied)),
            "varied_alarms": float(len(alarms_of_varied)),
            "planted": float(planted),
            "missed": float(len(missed)),
            "held_out_files": float(len(unseen)),
            "held_out_alarms": float(len(alarms_held_out)),
            "held_out_planted": float(planted_held_out),
            "held_out_missed": float(len(missed_held_out)),
        },
        raw={
            "files": {name: len(files) for name, files in texts.items()},
            "alarms": alarms,
            "varied_alarms": alarms_of_varied,
            "missed": missed,
            "held_out_alarms": alarms_held_out,
            "held_out_missed": missed_held_out,
        },
    )


def measured(claims: list[dict[str, Any]]) -> Measurements:
    """Return each claim measured twice: the first value stands no longer."""
    first = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    return Measurements(
        measured=tuple(
            Measurement(name=one["name"], value=float(one[key]), unit=one["unit"], date=first + late)
            for one in claims
            for key, late in (("old", datetime.timedelta()), ("now", datetime.timedelta(days=1)))
        )
    )


def variants(claim: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the claim with other values: that thirty of them meet nothing by chance would prove little."""
    for factor in FACTORS:
        value = float(f"{claim['old'] * factor:.3g}")
        yield {"old": value, "now": value * 1e5}


def shipped(site: Path, package: str) -> list[Path]:
    folders = [site / package, *site.glob(f"{package}-*.dist-info")]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in SUFFIXES)


def lost(claims: list[dict[str, Any]]) -> tuple[int, list[dict[str, str]]]:
    """Plant the copies of these claims; return how many they are, and which of them the search does not find."""
    with tempfile.TemporaryDirectory() as scratch:
        planted = plant(Path(scratch), claims)
        found = {(one.path, one.told.claim) for one in copies(formers(measured(claims)), planted)}
    missed = [
        {"claim": claim, "form": form, "carrier": path.name}
        for path, (claim, form) in planted.items()
        if (path, claim) not in found
    ]
    return len(planted), missed


def plant(folder: Path, claims: list[dict[str, Any]]) -> dict[Path, tuple[str, str]]:
    """Write every copy into a file of its own; return what stands where."""
    planted: dict[Path, tuple[str, str]] = {}
    carriers = [*CARRIERS.items()]
    for at, (claim, form) in enumerate((one["name"], form) for one in claims for form in one["copies"]):
        name, page = carriers[(at + at // len(carriers)) % len(carriers)]
        path = folder / f"p{at}" / name
        path.parent.mkdir()
        path.write_text(page.format(said=form.removeprefix("# ")))
        planted[path] = (claim, form)
    return planted


def said(one: Copy, site: Path) -> dict[str, object]:
    line = one.path.read_text(errors="replace").split("\n")[one.line - 1].strip()
    return {
        "path": str(one.path.relative_to(site)),
        "line": one.line,
        "claim": one.told.claim,
        "rank": round(one.rank, 2),
        "reasons": one.reasons,
        "text": line[:200],
    }


if __name__ == "__main__":
    sys.exit(main())
