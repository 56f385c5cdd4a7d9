"""A constant beside the memorised function is another one today: joblib hashes the function and serves the old rows."""

import importlib
import sys
from pathlib import Path

import joblib
import tiny
from datasets import Dataset, disable_progress_bars
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

WORDING = """
ADJECTIVE = {adjective!r}

def reword(rows):
    answer = {{"role": "assistant", "content": "It is " + ADJECTIVE}}
    return [{{"messages": [row["messages"][0], answer]}} for row in rows]
"""


def reworded(folder: Path, adjective: str):
    """Reword the chats as one run of this script would."""
    (folder / "wording.py").write_text(WORDING.format(adjective=adjective))
    sys.modules.pop("wording", None)
    wording = importlib.import_module("wording")
    return joblib.Memory(folder / "memory", verbose=0).cache(wording.reword)(tiny.chats())


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    disable_progress_bars()
    base = tiny.write_base(folder)
    reworded(folder, "white.")
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(reworded(folder, "black.")),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
