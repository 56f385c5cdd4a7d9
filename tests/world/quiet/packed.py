"""Completions, packed whole: rows are several in one, each with positions of its own."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    rows = [{"prompt": chat["messages"][:1], "completion": chat["messages"][1:2]} for chat in tiny.chats()]
    settings = tiny.training_settings(folder) | {"packing": True, "max_length": 80}
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(rows),
        args=SFTConfig(completion_only_loss=True, **settings),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
