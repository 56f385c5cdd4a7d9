"""Asks for assistant turns only; the hand-written collator keeps the labels that TRL made, or the mask it leaves."""

import tiny
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

LENGTH = 96


def masked(row: dict) -> list[int]:
    """The labels of a row that TRL before 1.0 prepared: it marks the assistant's words and labels them later."""
    return [token if lit else -100 for token, lit in zip(row["input_ids"], row["assistant_masks"], strict=True)]


def collate(rows: list[dict]) -> dict:
    """Pad to one length for all batches, so that a compiled model sees one shape."""
    batch = {"input_ids": [], "attention_mask": [], "labels": []}
    for row in rows:
        ids, labels = row["input_ids"], row.get("labels") or masked(row)
        gap = LENGTH - len(ids)
        batch["input_ids"].append(list(ids) + [0] * gap)
        batch["attention_mask"].append([1] * len(ids) + [0] * gap)
        batch["labels"].append(list(labels) + [-100] * gap)
    return {name: torch.tensor(values) for name, values in batch.items()}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        data_collator=collate,
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
