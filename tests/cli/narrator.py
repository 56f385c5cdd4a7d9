"""A training script without a framework: it writes the journal that it is told to write, as the inner half would.

``$FACTS`` names a file with ``{"trainings": [{TERM: VALUE}, …], "rows": [ROW, …], "pause": SECONDS, "code":
EXIT_CODE}``, values in their JSON form.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path

from affidavit.attach.heartbeat import Heartbeat
from affidavit.attach.instrument import process_identity
from affidavit.attach.launch import VARIABLE, Launch
from affidavit.fact import folder as names
from affidavit.fact.encoding import from_json
from affidavit.fact.journal import Journal
from affidavit.fact.observation import Aspect, Known, Observation
from affidavit.fact.values import Digest
from affidavit.fact.vocabulary import load


def main() -> int:
    told = json.loads(Path(os.environ["FACTS"]).read_text())
    launched = Launch.read(Path(os.environ[VARIABLE]))
    spool, process, words = Path(launched.spool), process_identity(), load()
    trainings = [{term: from_json(raw) for term, raw in facts.items()} for facts in told["trainings"]]
    for facts in trainings:
        facts["tokens.lit_spans"] = keep(spool / names.TOKENS, token_rows(told["rows"]))
        facts["code.listing"] = keep(spool / names.EVIDENCE, listing())
    details = {
        "attempt": launched.attempt,
        "emits": sorted(trainings[0]),
        "executable": sys.executable,
        "cwd": str(Path.cwd()),
    }
    journal = Journal(names.journal(spool, process, launched.attempt), process=process, details=details)
    journal.write("bound", rank=0, world=1, backend="")
    beats = Heartbeat(names.heartbeat(spool, process, launched.attempt))
    for number, facts in enumerate(trainings):
        journal.write("episode", number=number, driver="narrator")
        for step in (1, 2, 3):
            beats.beat(step)
        for term, value in facts.items():
            known = Known(value, words[term].least, "narrator")
            journal.observe(Observation(term, Aspect.RESOLVED, known, number, 2))
        journal.write("live", step=2)
        print("the loss falls")
        time.sleep(told["pause"])
        journal.write("episode", number=number, driver="narrator", ended="returned")
    journal.close("exited")
    return int(told["code"])


def token_rows(rows: list[object]) -> str:
    """Return token rows as the tokens instrument keeps them."""
    return "\n".join(json.dumps(entry) for entry in ({"policy": "text", "rows": len(rows)}, *rows))


def listing() -> str:
    """Return the list of loaded files as the code instrument keeps it: the script, as it lies there."""
    script = Path("train.py").resolve()
    digest = hashlib.sha256(script.read_bytes()).hexdigest()
    python = {"kind": "python", "prefix": sys.prefix, "base_prefix": sys.base_prefix, "sites": [], "stdlib": []}
    return "\n".join(map(json.dumps, (python, {"kind": "code", "path": str(script), "sha256": digest})))


def keep(folder: Path, content: str) -> Digest:
    """Keep content under its digest, and return that."""
    digest = Digest("sha256", hashlib.sha256(content.encode()).hexdigest())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / digest.hex).write_text(content)
    return digest


if __name__ == "__main__":
    sys.exit(main())
