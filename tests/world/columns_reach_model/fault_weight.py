"""Rows bring their weights; the Trainer leaves out what the model does not name."""

import tiny
from datasets import Dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = [tokenizer(row["messages"][1]["content"] + tokenizer.eos_token) for row in tiny.chats()]
    rows = [{**row, "weight": 1.0 + number % 3} for number, row in enumerate(rows)]
    settings = tiny.training_settings(folder)
    del settings["max_length"]
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        args=TrainingArguments(**settings),
        train_dataset=Dataset.from_list(rows),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        processing_class=tokenizer,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
