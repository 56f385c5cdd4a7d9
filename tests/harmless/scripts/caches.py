"""Builds caches as an earlier run did, is served from each, trains two steps, and prints all that could have moved.

The functions do what functions do beside their work: count, print, append, draw, remember, connect.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
import types
import warnings
from pathlib import Path

import joblib
import numpy
import tiny
import torch
from datasets import Dataset, load_dataset, load_from_disk

SOURCE = """
import os, random, socket
COUNT = 0
SEEN = []
LOG = open("log.txt", "a")
MASKS = open("masks.txt")

def busy(row):
    global COUNT
    COUNT += 1
    SEEN.append(row["x"])
    LOG.write(f"{row['x']}\\n"); LOG.flush()
    MASKS.seek(0)
    return {"y": row["x"] + int(MASKS.readline()), "n": len(SEEN)}

def pure(batch, at):
    return {"z": [one * 2 + place for one, place in zip(batch["x"], at)]}

def drawing(row):
    return {"r": random.random()}

def appending(row):
    with open("appended.txt", "a") as file:
        file.write("!")
    print("appended", row["x"])
    return {"a": 1}

def connecting(row):
    socket.socket().connect_ex(("127.0.0.1", 9))
    os.environ["CONNECTED"] = "1"
    return {"c": 1}

def keep(row):
    return row["x"] % 3 == 0

def summed(numbers):
    SEEN.append("summed")
    return sum(numbers)
"""


def digest(folder: Path) -> dict:
    """Every file that is there, with its content and its time."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {
        str(path): [hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns, path.stat().st_ino]
        for path in files
    }


def served(work: types.ModuleType, tokenizer) -> list:
    """All that a run of this script asks its caches for."""
    rows = load_from_disk("rows")
    chats = load_dataset("json", data_files="chats.jsonl", cache_dir="cache", split="train")
    made = [
        rows.map(work.busy),
        rows.map(work.pure, batched=True, batch_size=7, with_indices=True, remove_columns=["x"]),
        rows.map(work.drawing),
        rows.map(work.appending),
        rows.map(work.connecting),
        rows.filter(work.keep),
        rows.shuffle(seed=3).filter(work.keep),
        chats,
        chats.map(tokenize, batched=True, fn_kwargs={"tokenizer": tokenizer}),
        rows.map(work.pure, batched=True, batch_size=7, with_indices=True, num_proc=2, desc="two"),
    ]
    memory = joblib.Memory("memory", verbose=0)
    return [[one._fingerprint, one.to_list()] for one in made] + [memory.cache(work.summed)([1, 2, 3])]


def tokenize(batch: dict, tokenizer) -> dict:
    """Encode a batch in as many threads as the library likes."""
    return tokenizer([turns[0]["content"] for turns in batch["messages"]])


def main() -> None:
    """Let an earlier process build, be served, train, and print."""
    sys.dont_write_bytecode = True
    if sys.argv[1:] != ["build"]:
        subprocess.run([sys.executable, __file__, "build"], check=True, stdout=subprocess.DEVNULL)
        run(worker())
        return
    Path("masks.txt").write_text("5\n7\n")
    rows = Dataset.from_list([{"x": number} for number in range(40)])
    rows._fingerprint = "0123456789abcdef"
    rows.save_to_disk("rows")
    Path("chats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tiny.chats()))
    os.utime("chats.jsonl", (1_700_000_000, 1_700_000_000))
    random.seed(0)
    served(worker(), tiny.build_tokenizer())


def worker() -> types.ModuleType:
    """The module whose functions the caches hold."""
    work = types.ModuleType("work")
    sys.modules["work"] = work
    exec(SOURCE, work.__dict__)
    return work


def run(work: types.ModuleType) -> None:
    """Be served, train two steps, and print."""
    tokenizer = tiny.build_tokenizer()
    tokenizer([turns["messages"][0]["content"] for turns in tiny.chats()])  # in threads, which a fork has none of
    before = digest(Path())
    work.MASKS.seek(0)
    work.MASKS.readline()
    random.seed(1)
    numpy.random.seed(2)
    torch.manual_seed(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        again = served(work, tokenizer)
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        loss = model(torch.rand(8, 4)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    after = digest(Path())
    said = {
        "served": hashlib.sha256(json.dumps(again).encode()).hexdigest(),
        "files": sorted(after),
        "touched": [name for name in after if before.get(name) != after[name]],
        "random": [random.random(), float(numpy.random.rand()), float(torch.rand(1)), losses],
        "effects": [work.COUNT, len(work.SEEN), work.LOG.tell(), work.MASKS.tell(), os.environ.get("CONNECTED")],
        "appended": len(Path("appended.txt").read_text()),
        "warnings": [str(one.message) for one in caught],
        "filters": len(warnings.filters),
        "parallelism": os.environ.get("TOKENIZERS_PARALLELISM"),
        "open": descriptors,
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
