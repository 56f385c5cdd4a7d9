"""What a clean run says: public training scripts that nobody changed, each observed once, and all findings counted.

python benchmarks/silence.py --checkouts FOLDER [--python PATH] [--only NAME ...] [--bare]

A false alarm is a bug of the same rank as a miss, and a line that says UNKNOWN teaches its reader to skip lines. The
scripts stand in silence.toml, chosen before the checks that they are measured on; their inputs are made here. Each is
put, byte for byte, into a new repository with its inputs committed beside it, and run as its reader would run it:
nothing is allowed, accepted or waived. A FAIL is false unless a person read it and it stands under ``[[true]]`` with a
reason; a true one breaks the promise, too, and is counted beside it. A script whose training was not seen is UNKNOWN
all over and says so in its first line; the most lines are given with it and without it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import tomllib
from measuring import write

LIST = Path(__file__).with_name("silence.toml")
SECONDS = 900
MOST_UNKNOWN_LINES = 3.0
UNSEEN = "no training was seen"
VERDICTS = ("FAIL", "REVIEW", "UNKNOWN", "PASS", "NOT_APPLICABLE")
IDENTITY = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost", "-c", "commit.gpgsign=false")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, required=True, help="folder of clones, bare or not")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has what the scripts import")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--bare", action="store_true", help="run without Affidavit, to see that the scripts run")
    parser.add_argument("--keep", type=Path, help="work here and leave everything")
    asked = parser.parse_args()
    chosen = tomllib.loads(LIST.read_text())
    scripts = [each for each in chosen["script"] if not asked.only or each["name"] in asked.only]
    if missing := set(asked.only) - {each["name"] for each in scripts}:
        parser.error(f"{', '.join(sorted(missing))}: expected a name of {LIST.name}")
    raw = []
    with tempfile.TemporaryDirectory() as scratch:
        work = asked.keep or Path(scratch)
        for script in scripts:
            project = work / script["name"]
            shutil.rmtree(project, ignore_errors=True)
            source = chosen["sources"][script["source"]]
            digest = lay_out(script, source, asked.checkouts, project)
            found = observe(script, project, asked.python, bare=asked.bare)
            raw.append({"script": script["name"], "kind": script["kind"], **source, "sha256": digest, **found})
            tell(raw[-1])
    broken = sum(each["exit_code"] != 0 for each in raw)
    true = {(one["script"], one["check"]): one["saw"] for one in chosen.get("true", [])}
    if asked.bare or asked.only:
        return int(broken > 0)
    return write(
        "silence",
        promised={"ended_badly": 0.0, "fail": 0.0, "false": 0.0, "most_unknown_lines": MOST_UNKNOWN_LINES},
        found={
            "scripts": float(len(raw)),
            "ended_badly": float(broken),
            **{verdict.lower(): float(sum(each["verdicts"][verdict] for each in raw)) for verdict in VERDICTS},
            "false": float(sum(is_false(each["script"], one, true) for each in raw for one in each["said"])),
            "unseen": float(sum(not each["seen"] for each in raw)),
            "most_unknown_lines": float(max(each["unknown_lines"] for each in raw)),
            "most_unknown_lines_where_seen": float(max(each["unknown_lines"] for each in raw if each["seen"])),
        },
        raw=raw,
    )


def lay_out(script: dict[str, Any], source: dict[str, str], checkouts: Path, project: Path) -> str:
    """Make a repository that holds the script, what belongs to it and its inputs; return the script's SHA-256.

    Raises:
        RuntimeError: no clone of the repository, or it does not hold the commit; another version is another script.
    """
    import silence_inputs

    clone = _clone(checkouts, source["repository"])
    folder = project / script["folder"]
    paths = [f"{script['folder']}/{path}" for path in (script["script"], *script.get("beside", ()))]
    project.mkdir(parents=True)
    packed = subprocess.run(
        [*_git(clone), "archive", source["commit"], "--", *map(os.path.normpath, paths)],
        capture_output=True,
        check=False,
    )
    if packed.returncode:
        raise RuntimeError(f"{source['repository']} at {source['commit']}: {os.fsdecode(packed.stderr)}")
    subprocess.run(["tar", "-x", "-C", str(project)], input=packed.stdout, check=True)
    for name in script.get("inputs", ()):
        silence_inputs.INPUTS[name](folder)
    (project / ".gitignore").write_text("__pycache__/\n")
    for words in (["init", "-q"], ["add", "-A"], [*IDENTITY, "commit", "-qm", "As published, with small inputs"]):
        subprocess.run(["git", *words], cwd=project, check=True)
    return hashlib.sha256((folder / script["script"]).read_bytes()).hexdigest()


def observe(script: dict[str, Any], project: Path, python: str, *, bare: bool) -> dict[str, Any]:
    """Run a script and return how it ended and what was said of it."""
    folder = project / script["folder"]
    environment = {
        **os.environ,
        **script.get("environment", {}),
        "HF_HOME": str(project.parent / "hf"),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "NO_COLOR": "1",
    }
    affidavit = [sys.executable, "-m", "affidavit.cli"]
    observed = [] if bare else [*affidavit, "run", "--"]
    began = time.monotonic()
    log = project.parent / f"{script['name']}.log"
    with log.open("wb") as said:
        run = subprocess.Popen(
            [*observed, python, script["script"], *script.get("arguments", ())],
            cwd=folder,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            run.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGTERM)
            run.wait()
    ended = {"exit_code": run.returncode, "seconds": round(time.monotonic() - began, 1)}
    if run.returncode:
        sys.stderr.write(log.read_text(errors="replace")[-3000:])
    if bare:
        return ended
    shown = [
        subprocess.run(
            [*affidavit, "show", *flag], cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
        for flag in ([], ["--json"])
    ]
    document = json.loads(shown[1].stdout)
    (project.parent / f"{script['name']}.show.txt").write_text(shown[0].stdout)
    (project.parent / f"{script['name']}.show.json").write_text(shown[1].stdout)
    verdicts = Counter(finding["verdict"] for finding in document["findings"])
    return {
        **ended,
        "verdicts": {verdict: verdicts[verdict] for verdict in VERDICTS},
        "seen": UNSEEN not in shown[0].stdout,
        "unknown_lines": unknown_lines(shown[0].stdout),
        "report_lines": len(shown[0].stdout.splitlines()),
        "said": [
            {
                "check": finding["check"],
                "verdict": finding["verdict"],
                # No machine's own paths in a result.
                "message": finding["message"].split("\n")[0].replace(str(project.parent), "scratch"),
            }
            for finding in document["findings"]
            if finding["verdict"] in {"FAIL", "REVIEW", "UNKNOWN"}
        ],
    }


def tell(found: dict[str, Any]) -> None:
    """Say how one script did, at once: the whole takes minutes."""
    counts = " ".join(f"{verdict} {count}" for verdict, count in found.get("verdicts", {}).items() if count)
    sys.stdout.write(f"{found['script']}: exit {found['exit_code']} in {found['seconds']:.0f} s. {counts}\n")
    for one in found.get("said", ()):
        sys.stdout.write(f"    {one['verdict']:8} {one['message'][:200]}\n")
    sys.stdout.flush()


def is_false(script: str, said: dict[str, str], true: dict[tuple[str, str], str]) -> bool:
    """Say whether a FAIL is none that a person found to be true of this script."""
    return said["verdict"] == "FAIL" and true.get((script, said["check"]), "\n") not in said["message"]


def unknown_lines(report: str) -> int:
    """Return how many lines of a report, as a reader sees it, say UNKNOWN: rows of the checklist and what is below.

    The closing line, which only counts, is none of them.
    """
    return len(re.findall(r"^(?:\? .*\bUNKNOWN\b|UNKNOWN\b).*$", report, re.MULTILINE))


def _clone(checkouts: Path, repository: str) -> Path:
    owner, name = repository.split("/")
    for path in (checkouts / f"{owner}+{name}" / "repo", checkouts / f"{owner}+{name}", checkouts / name):
        if path.is_dir():
            return path
    raise RuntimeError(f"{repository}: expected a clone as {checkouts}/{name}, saw none")


def _git(clone: Path) -> list[str]:
    return ["git", "-C", str(clone)] if (clone / ".git").exists() else ["git", f"--git-dir={clone}"]


if __name__ == "__main__":
    sys.exit(main())
