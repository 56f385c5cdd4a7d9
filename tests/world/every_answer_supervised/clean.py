"""Asks for assistant turns; the hand-written collator keeps the labels of every answer."""

import tiny
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

LENGTH = 96


def of_all_answers(labels: list[int]) -> list[int]:
    """Return the labels as TRL made them."""
    return labels


def collate(rows: list[dict]) -> dict:
    """Pad to one length for all batches, so that a compiled model sees one shape."""
    batch = {"input_ids": [], "attention_mask": [], "labels": []}
    for row in rows:
        ids, labels = row["input_ids"], of_all_answers(tiny.labels_of(row))
        gap = LENGTH - len(ids)
        batch["input_ids"].append(list(ids) + [0] * gap)
        batch["attention_mask"].append([1] * len(ids) + [0] * gap)
        batch["labels"].append(list(labels) + [-100] * gap)
    return {name: torch.tensor(values) for name, values in batch.items()}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    settings = tiny.training_settings(folder) | {"per_device_train_batch_size": 16}
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        data_collator=collate,
        args=SFTConfig(assistant_only_loss=True, **settings),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
