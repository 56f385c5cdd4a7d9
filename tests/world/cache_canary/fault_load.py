"""The chats were corrected and the file kept its time, as rsync -t keeps it: the old ones are served."""

import json
import os
from pathlib import Path

import tiny
from datasets import disable_progress_bars, load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def loaded(folder: Path):
    """Load the chats as one run of this script would."""
    return load_dataset("json", data_files=str(folder / "chats.jsonl"), cache_dir=str(folder / "cache"), split="train")


def write(file: Path, answer: str) -> None:
    """Write the chats, each answered alike in length, at the time that the file always has."""
    rows = tiny.chats()
    for row in rows[::5]:
        row["messages"][1]["content"] = answer
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(file, (1_700_000_000, 1_700_000_000))


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    disable_progress_bars()
    base = tiny.write_base(folder)
    write(folder / "chats.jsonl", "The road is white.")
    loaded(folder)
    write(folder / "chats.jsonl", "The road is black.")
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=loaded(folder),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
