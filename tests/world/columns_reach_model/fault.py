"""Rows bring the mask of the answer under a mistyped name; nobody reads it."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def encode(row: dict, tokenizer) -> dict:
    """Encode a question and its answer, with the mask of the answer."""
    question, answer = (message["content"] for message in row["messages"][:2])
    prompt, completion = tokenizer(question)["input_ids"], tokenizer(answer + tokenizer.eos_token)["input_ids"]
    return {"input_ids": prompt + completion, "completion_masks": [0] * len(prompt) + [1] * len(completion)}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list([encode(row, tokenizer) for row in tiny.chats()]),
        args=SFTConfig(completion_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
