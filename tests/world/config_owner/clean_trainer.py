"""The launcher's file and the arguments ask for the same two micro-batches a step."""

import os

import tiny
from datasets import Dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

os.environ["ACCELERATE_GRADIENT_ACCUMULATION_STEPS"] = "2"  # as "accelerate launch" with a config file does


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")

    lines = [message["content"] for row in tiny.chats() for message in row["messages"]]
    settings = tiny.training_settings(folder)
    del settings["max_length"]
    settings["gradient_accumulation_steps"] = 2
    trainer = Trainer(
        model=model,
        train_dataset=Dataset.from_list([{"input_ids": tokenizer(line)["input_ids"]} for line in lines]),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        args=TrainingArguments(**settings),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
