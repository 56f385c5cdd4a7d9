"""A cache of the script's own, whose key leaves out how much of a turn is kept: every entry has the same name."""

import importlib
import json
import os
import sys
from pathlib import Path

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

from affidavit.cache.probe import probe
from affidavit.cache.probe.probed import keep

POLICY = """
LONGEST = 64

def prepare(row):
    return {"messages": [{**turn, "content": turn["content"][:LONGEST]} for turn in row["messages"]]}

def key():
    return "prepared"
"""


def prepared(folder: Path, rows: list) -> list:
    """Prepare rows, or read them where an entry of their key lies."""
    policy = importlib.import_module("policy")
    keep(probe(policy.prepare, rows=rows, key=policy.key))
    entry = folder / f"{policy.key()}.json"
    if not entry.exists():
        entry.write_text(json.dumps([policy.prepare(row) for row in rows]))
    return json.loads(entry.read_text())


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    os.environ["AFFIDAVIT_CACHE"] = str(folder / "store")
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    (folder / "policy.py").write_text(POLICY)
    base = tiny.write_base(folder)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(prepared(folder, list(tiny.chats()))),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
