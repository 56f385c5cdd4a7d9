"""L3b-14, mended: the template marks what an assistant says."""

import tiny
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq, Trainer, TrainingArguments


def encode(row: dict, tokenizer) -> dict:
    """Encode a chat, with labels where its mask says so."""
    encoded = tokenizer.apply_chat_template(row["messages"], return_assistant_tokens_mask=True, return_dict=True)
    ids, mask = encoded["input_ids"], encoded["assistant_masks"]
    labels = [token if said else -100 for token, said in zip(ids, mask, strict=True)]
    return {"input_ids": ids, "attention_mask": [1] * len(ids), "labels": labels}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder, template=tiny.TRAINING_TEMPLATE)
    tokenizer = AutoTokenizer.from_pretrained(base)
    settings = tiny.training_settings(folder)
    del settings["max_length"]
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        args=TrainingArguments(**settings),
        train_dataset=[encode(row, tokenizer) for row in tiny.chats()],
        data_collator=DataCollatorForSeq2Seq(tokenizer),
        processing_class=tokenizer,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
