"""L2-15: the script asks to keep its columns, and the trainer drops them before the collator.

Caught by columns-reach-model.
"""

import tiny
import torch
from datasets import Dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

CAUGHT_BY = "columns-reach-model"


class Weighted:
    """Pads rows as a language model wants them; a row whose weight is 0 carries no label."""

    def __init__(self, tokenizer) -> None:
        self.pad = DataCollatorForLanguageModeling(tokenizer, mlm=False)

    def __call__(self, rows: list[dict]) -> dict:
        """Return one batch."""
        weights = torch.tensor([row.get("weight", 1.0) for row in rows])
        batch = self.pad([{name: row[name] for name in ("input_ids", "attention_mask")} for row in rows])
        batch["labels"] = batch["labels"].masked_fill(weights[:, None] == 0, -100)
        return batch


class Ready(Trainer):
    """A trainer that prepares rows its own way, and forgets what was said of their columns."""

    def get_train_dataloader(self):
        """Return the loader, with the columns that the model names."""
        self.args.remove_unused_columns = True
        return super().get_train_dataloader()


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = [tokenizer(row["messages"][1]["content"] + tokenizer.eos_token) for row in tiny.chats()]
    rows = [{**row, "weight": float(number % 16 > 0)} for number, row in enumerate(rows)]
    settings = tiny.training_settings(folder)
    del settings["max_length"]
    trainer = Ready(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        args=TrainingArguments(remove_unused_columns=False, **settings),
        train_dataset=Dataset.from_list(rows),
        data_collator=Weighted(tokenizer),
        processing_class=tokenizer,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
