"""Asks for more steps than its stream has rows for, and the stream cannot be read again."""

from collections.abc import Iterator

import tiny
from torch.utils.data import IterableDataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments, default_data_collator


class Once(IterableDataset):
    """Rows that come from somewhere else, one after the other, and are gone then."""

    def __init__(self, rows: list[dict]) -> None:
        self._rows = iter(rows)

    def __iter__(self) -> Iterator[dict]:
        return self._rows


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    told = {"return_dict": True, "return_assistant_tokens_mask": True}
    cut = {"max_length": 48, "padding": "max_length", "truncation": True}
    rows = []
    for chat in tiny.chats()[:12]:
        row = tokenizer.apply_chat_template(chat["messages"], **told, **cut)
        labels = [token if lit else -100 for token, lit in zip(row["input_ids"], row["assistant_masks"], strict=True)]
        rows.append({"input_ids": row["input_ids"], "attention_mask": row["attention_mask"], "labels": labels})
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=tokenizer,
        train_dataset=Once(rows),
        data_collator=default_data_collator,
        args=TrainingArguments(
            output_dir=str(folder / "trained"),
            max_steps=6,
            per_device_train_batch_size=4,
            learning_rate=5e-3,
            logging_steps=1,
            save_strategy="no",
            accelerator_config={"dispatch_batches": False},
            report_to="none",
            use_cpu=True,
        ),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
