"""Fine-tune on whole chats, padded with a token that the tokenizer has already."""

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
    tokenizer.pad_token = tokenizer.eos_token

    chats = [tokenizer.apply_chat_template(chat["messages"], return_dict=True) for chat in tiny.chats()]
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        args=TrainingArguments(**tiny.plain_settings(folder)),
        train_dataset=chats,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        processing_class=tokenizer,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
