"""Asks for bfloat16 for a model that is named by its path, and gets it."""

import tiny
from datasets import Dataset
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)

    settings = tiny.training_settings(folder) | {"model_init_kwargs": {"dtype": "bfloat16"}}
    trainer = SFTTrainer(
        model=str(base),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **settings),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
