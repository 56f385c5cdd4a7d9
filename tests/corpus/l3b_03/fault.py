"""L3b-03: rows are ended by the token of the padding, and the model's own end is never learnt.

Caught by turns-end-supervised.
"""

import tiny
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

CAUGHT_BY = "turns-end-supervised"


def collate(rows: list[list[int]]) -> dict:
    """Pad rows of ids; what they end with is trained on."""
    length = max(map(len, rows))
    batch = {"input_ids": [], "attention_mask": [], "labels": []}
    for row in rows:
        gap = length - len(row)
        batch["input_ids"].append(row + [0] * gap)
        batch["attention_mask"].append([1] * len(row) + [0] * gap)
        batch["labels"].append(row + [-100] * gap)
    return {name: torch.tensor(values) for name, values in batch.items()}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = [tokenizer(row["messages"][1]["content"])["input_ids"] + [tokenizer.pad_token_id] for row in tiny.chats()]
    settings = tiny.training_settings(folder)
    del settings["max_length"]
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        args=TrainingArguments(**settings),
        train_dataset=rows,
        data_collator=collate,
        processing_class=tokenizer,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
