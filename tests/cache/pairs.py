"""One small project, changed in one thing: what the function returns, what our key says, and what a peer's says.

Every state is looked at in a process of its own that has only the frameworks imported, forked from one that has.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.cache.preimage import Preimage

ENC = '''"""Encodes."""
import os
import pathlib
import helper
from helper import h

LIMIT = 3
HERE = pathlib.Path(__file__).parent


class Tok:
    """Counts."""

    scale = 2

    def __init__(self, pad=0):
        self.pad = pad

    def ids(self, text):
        return [ord(letter) * self.scale + self.pad for letter in text]


def encode(row, tok=None):
    """Return ids."""
    ids = (tok or Tok()).ids(row["text"])
    kept = [each for each in ids if each not in helper.MASK]
    return {"ids": kept[:LIMIT], "more": h(row["text"])}


def inside(row):
    import late
    return late.shape(row["text"])


def opened(row):
    with open(HERE / "mask.txt") as file:
        mask = file.read()
    return [letter for letter in row["text"] if letter not in mask]


def stated(row):
    return row["text"] + os.environ.get("STYLE", "plain")


def drawn(row):
    import random
    return row["text"] * random.randint(1, 9)


def factory(times):
    def repeat(row):
        return row["text"] * times
    return repeat
'''
HELPER = """MASK = {196, 200}


def h(text):
    return len(text) + 1
"""
LATE = """SUFFIX = "x"


def shape(text):
    return text + SUFFIX
"""
FILES = {"enc.py": ENC, "helper.py": HELPER, "late.py": LATE, "mask.txt": "ab", "pyproject.toml": ""}
ROW = {"text": "abcdef"}


@dataclass(frozen=True)
class Seen:
    """One state: what came out, our pre-image or why there is none, and the peer's key."""

    output: str
    ours: Preimage | None
    refused: str
    peer: str
    memory: str
    """What ``joblib.Memory`` returned, which kept what it returned in the state before; "" where it was not asked."""


def make(folder: Path, files: dict[str, str] = FILES) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def _context() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["datasets", "transformers", "affidavit.cache.key"])
    return context


def look(folder: Path, build: str, *, environment: dict[str, str] | None = None) -> Seen:
    """Return one state of a project. ``build`` is code that sets ``function`` and, if it likes, ``keywords``."""
    context = _context()
    reader, writer = context.Pipe(duplex=False)
    child = context.Process(target=_look, args=(str(folder), build, environment or {}, writer))
    child.start()
    writer.close()
    try:
        said = json.loads(reader.recv())
    finally:
        child.join(30)
    assert "error" not in said, said["error"]
    ours = Preimage.from_json(said["ours"]) if said["ours"] else None
    return Seen(said["output"], ours, said["refused"], said["peer"], said["memory"])


def _look(folder: str, build: str, environment: dict[str, str], writer: Any) -> None:
    os.environ.update(environment)
    sys.dont_write_bytecode = True
    sys.path[:0] = [folder, f"{folder}/lib/site-packages"]
    os.chdir(folder)
    try:
        writer.send(json.dumps(_measured(build)))
    except BaseException:  # noqa: BLE001  whoever waits shall hear of it
        writer.send(json.dumps({"error": traceback.format_exc()}))


def _measured(build: str) -> dict[str, Any]:
    from datasets.fingerprint import Hasher

    from affidavit.cache.key import KeyRefusedError, preimage_of

    space: dict[str, Any] = {"keywords": {}, "row": dict(ROW)}
    exec(compile(build, "<build>", "exec"), space)
    function: Callable[..., Any] = space["function"]
    keywords = {"rows": [space["row"]], **space["keywords"]}
    peer = Hasher.hash(space.get("peer", function))
    try:
        ours, refused = preimage_of(function, **keywords).to_json(), ""
    except KeyRefusedError as error:
        ours, refused = None, str(error)
    output = space["result"]() if "result" in space else repr(function(space["row"]))
    return {"output": output, "ours": ours, "refused": refused, "peer": peer, "memory": _remembered(function, space)}


def _remembered(function: Any, space: dict[str, Any]) -> str:
    import joblib

    if not isinstance(function, types.FunctionType) or not Path(function.__code__.co_filename).is_file():
        return ""
    return repr(joblib.Memory(".joblib", verbose=0).cache(function)(space["row"]))
