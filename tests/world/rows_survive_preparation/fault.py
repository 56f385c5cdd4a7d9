"""A limit of 40 tokens leaves no label behind a long question, and TRL leaves such chats out."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    chats = tiny.chats()
    for chat in chats[::2]:
        chat["messages"][0]["content"] = "Are you sure? " * 8 + chat["messages"][0]["content"]
    settings = tiny.training_settings(folder) | {"max_length": 40}
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(chats),
        args=SFTConfig(assistant_only_loss=True, **settings),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
