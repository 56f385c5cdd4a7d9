"""L2-06, clean: rows longer than the limit are left out."""

from dataclasses import dataclass

import tiny
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq, Trainer, TrainingArguments


@dataclass
class Arguments(TrainingArguments):
    """Arguments with a limit that the script's own dataset is to keep."""

    max_seq_length: int | None = None


def rows(tokenizer, limit: int | None) -> list[dict]:
    """Chats as ids, with labels on the assistant's words, where they are within the limit."""
    found = []
    for chat in tiny.chats():
        text = tokenizer.apply_chat_template(chat["messages"], return_dict=True, return_assistant_tokens_mask=True)
        labels = [token if lit else -100 for token, lit in zip(text["input_ids"], text["assistant_masks"], strict=True)]
        row = {"input_ids": text["input_ids"], "labels": labels}
        if limit is not None and len(labels) > limit:
            continue
        found.append(row)
    return found


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    settings = tiny.training_settings(folder)
    del settings["max_length"]
    settings["per_device_train_batch_size"] = 16
    arguments = Arguments(max_seq_length=40, **settings)
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=tokenizer,
        train_dataset=rows(tokenizer, arguments.max_seq_length),
        data_collator=DataCollatorForSeq2Seq(tokenizer),
        args=arguments,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
