"""L3b-13: packing makes labels of every token, whatever was asked.

Caught by supervised-as-requested.
"""

import tiny
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

CAUGHT_BY = "supervised-as-requested"


def pack(rows: list[dict]) -> dict:
    """Put rows behind one another, each with positions of its own."""
    ids = [token for row in rows for token in row["input_ids"]]
    labels = [label for row in rows for label in row["input_ids"]]
    positions = [at for row in rows for at in range(len(row["input_ids"]))]
    batch = {"input_ids": ids, "labels": labels, "position_ids": positions}
    return {name: torch.tensor([values]) for name, values in batch.items()}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        data_collator=pack,
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
