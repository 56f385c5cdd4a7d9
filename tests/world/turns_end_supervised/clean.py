"""Pads with a token of its own; the collator masks the padding, and the end of each row is trained on."""

import tiny
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
    texts = [row["messages"][1]["content"] for row in tiny.chats()]
    settings = tiny.training_settings(folder)
    del settings["max_length"]
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        args=TrainingArguments(**settings),
        train_dataset=[tokenizer(text + tokenizer.eos_token) for text in texts],
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        processing_class=tokenizer,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
