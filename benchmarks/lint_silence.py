"""What lint says of public code: every name that it refuses is asked of the live object, and none may be taken there.

python benchmarks/lint_silence.py [--checkouts FOLDER] [--sdists FOLDER]

The code is that of lint_silence.toml. An alarm is true where the live callable raises a TypeError for that very name,
where the live dataclasses of a parser have no such field, or where the line itself says it (``type=bool``). Whatever
is left was read by a person and stands under ``[[true]]`` with a reason, or is a false alarm.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomllib
from measuring import write

from affidavit.lint.catalogue import Catalogue
from affidavit.lint.files import gather
from affidavit.lint.project import Lint, lint

LIST = Path(__file__).with_name("lint_silence.toml")
CALLS, CONFIGS = 1000, 200
"""Fewer places than these would prove nothing."""
ORACLE = r"""
import dataclasses, importlib, inspect, json, sys

def live(dotted):
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise ImportError(dotted)

def refuses(callee, name):
    found = live(callee)
    if callee.partition("+")[0] and dataclasses.is_dataclass(found) and isinstance(found, type):
        if name in {field.name for field in dataclasses.fields(found)}:
            return False
    parameters = inspect.signature(found).parameters
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    if not takes_any:
        return name not in parameters
    try:
        found(**{name: None})
    except TypeError as error:
        return f"unexpected keyword argument '{name}'" in str(error)
    except Exception:
        return False
    return False

answers = []
for callee, name in json.load(sys.stdin):
    try:
        answers.append(all(refuses(one, name) for one in callee.split(" + ")))
    except Exception as error:
        answers.append(f"{type(error).__name__}: {error}"[:200])
print("ANSWERS" + json.dumps(answers))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, help="folder of clones, <owner>+<name>")
    parser.add_argument("--sdists", type=Path, help="folder of source distributions; fetched where it has none")
    asked = parser.parse_args()
    chosen = tomllib.loads(LIST.read_text())
    raw: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        catalogue = Catalogue([Path(sysconfig.get_paths()["purelib"])], Path(scratch) / "signatures")
        for source, folder in unpacked(chosen, asked.sdists, asked.checkouts, Path(scratch)):
            said = lint(gather([folder]), root=folder, catalogue=catalogue)
            raw.append(judged(source, folder, said, chosen.get("true", [])))
            print(json.dumps({key: value for key, value in raw[-1].items() if not isinstance(value, list)}))
    found = {
        name: float(sum(each[name] for each in raw))
        for name in ("files", "calls", "configs", "names", "refused", "false", "doubted", "fields", "false_fields")
    }
    short = {"calls": CALLS - found["calls"], "configs": CONFIGS - found["configs"]}
    for name, lacking in short.items():
        if lacking > 0:
            print(f"{name}: {lacking:.0f} too few to prove anything")
    promised = {"false": 0.0, "false_fields": 0.0, "too_few": 0.0}
    found["too_few"] = float(sum(lacking > 0 for lacking in short.values()))
    return write("lint_silence", promised=promised, found=found, raw=raw)


def unpacked(
    chosen: dict[str, Any], sdists: Path | None, checkouts: Path | None, scratch: Path
) -> Iterator[tuple[str, Path]]:
    """Yield each source and the folder in which it lies, fetched and unpacked where it has to be."""
    kept = sdists or scratch / "sdists"
    kept.mkdir(exist_ok=True)
    for one in chosen["sdist"]:
        name, version = one["name"], one["version"]
        archive = kept / f"{name}-{version}.tar.gz"
        if not archive.exists():
            wanted = f"{name}=={version}"
            options = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--quiet", "--dest", str(kept)]
            subprocess.run([sys.executable, "-m", "pip", "download", *options, wanted], check=False)
        with tarfile.open(archive) as tar:
            tar.extractall(scratch / "unpacked", filter="data")
        yield f"{name} {version}", scratch / "unpacked" / f"{name}-{version}"
    for one in chosen.get("clone", []) if checkouts else []:
        assert checkouts is not None
        folder = scratch / "clones" / one["repository"].replace("/", "+")
        folder.mkdir(parents=True)
        source = next(path for path in places(checkouts / folder.name) if path.exists())
        archive = subprocess.run(
            ["git", "-C", str(source), "archive", one["commit"]], check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
        yield f"{one['repository']} {one['commit'][:12]}", folder


def places(folder: Path) -> Iterator[Path]:
    """Yield where a clone may lie below its name: as a work tree, as ``repo``, or in a folder of its own."""
    yield folder / "repo"
    yield from sorted(path for path in folder.glob("*") if (path / "objects").exists())
    yield folder


def judged(source: str, folder: Path, said: Lint, known: list[dict[str, str]]) -> dict[str, Any]:
    """Return what lint said of one source, and which of it the live objects and a person do not confirm."""
    answers = iter(ask([(word.callee, word.name) for word in said.held.unknown if not word.callee.endswith(".py")]))
    refused: list[dict[str, Any]] = []
    for word in said.held.unknown:
        path = str(word.path.relative_to(folder))
        live = "own parser" if word.callee.endswith(".py") else next(answers)
        told = is_known(known, source, path, word.name)
        refused.append(
            {"path": path, "line": word.line, "callee": word.callee, "name": word.name, "live": live, "read": told}
        )
    fields = [
        {
            "path": str(one.path.relative_to(folder)),
            "line": one.line,
            "name": one.name,
            "kind": one.kind,
            "said": one.said,
            "shown": is_shown(one.kind, one.path, one.line) or is_known(known, source, str(one.path.name), one.name),
        }
        for one in said.fields
    ]
    doubted = [f"{word.path.relative_to(folder)}:{word.line} {word.callee}({word.name}=)" for word in said.held.doubted]
    return {
        "source": source,
        "files": said.files.count,
        "calls": said.held.calls,
        "configs": said.configs,
        "names": said.held.examined.total(),
        "refused": len(refused),
        "false": sum(one["live"] is not True and not one["read"] for one in refused),
        "doubted": len(doubted),
        "fields": len(fields),
        "false_fields": sum(not one["shown"] for one in fields),
        "refusals": refused,
        "doubts": doubted,
        "fields_told": fields,
        "unread": [f"{one.path}:{one.line} {one.why}" for one in said.unread],
    }


def ask(names: list[tuple[str, str]]) -> list[object]:
    """Return for each name whether the live callable refuses it, or why nobody can say."""
    if not names:
        return []
    ended = subprocess.run(
        [sys.executable, "-c", ORACLE], input=json.dumps(names), capture_output=True, text=True, check=True
    )
    answers: list[object] = json.loads(ended.stdout.rpartition("ANSWERS")[2])
    return answers


def is_shown(kind: str, path: Path, line: int) -> bool:
    """Say whether the lines of an option show by themselves that any text is true."""
    around = path.read_text(errors="replace").splitlines()[line - 1 : line + 6]
    return kind == "bool" and any("type=bool" in one.replace(" ", "") for one in around)


def is_known(known: list[dict[str, str]], source: str, path: str, name: str) -> bool:
    return any(one["name"] == name and path.endswith(one["path"]) and source.startswith(one["source"]) for one in known)


if __name__ == "__main__":
    sys.exit(main())
