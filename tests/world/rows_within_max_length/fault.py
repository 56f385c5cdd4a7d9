"""Names a limit of 16 tokens beside rows that were made ready elsewhere."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def rows(tokenizer: object) -> Dataset:
    """Chats as ids, whole, with labels on the assistant's words."""
    found = []
    for row in tiny.chats():
        text = tokenizer.apply_chat_template(row["messages"], return_dict=True, return_assistant_tokens_mask=True)
        labels = [token if lit else -100 for token, lit in zip(text["input_ids"], text["assistant_masks"], strict=True)]
        found.append({"input_ids": text["input_ids"], "labels": labels})
    return Dataset.from_list(found)


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")

    trainer = SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=rows(AutoTokenizer.from_pretrained(base)),
        args=SFTConfig(
            dataset_kwargs={"skip_prepare_dataset": True},
            **{**tiny.training_settings(folder), "max_length": 16},
        ),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
