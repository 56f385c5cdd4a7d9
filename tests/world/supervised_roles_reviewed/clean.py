"""Asks for nothing of TRL, because the rows are encoded already and bring the mask of the assistant's turns."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def encode(row: dict, tokenizer) -> dict:
    """Encode one chat with the mask that TRL honours under this name."""
    encoded = tokenizer.apply_chat_template(row["messages"], return_assistant_tokens_mask=True, return_dict=True)
    return {"input_ids": encoded["input_ids"], "assistant_masks": encoded["assistant_masks"]}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list([encode(row, tokenizer) for row in tiny.chats()]),
        args=SFTConfig(**tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
