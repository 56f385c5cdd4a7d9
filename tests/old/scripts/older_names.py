"""Asks by names that version 5 of transformers no longer has, or has given another meaning."""

import tiny
from datasets import Dataset
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    settings = tiny.training_settings(folder)
    del settings["bf16"], settings["lr_scheduler_type"], settings[tiny.CHECKPOINTING]
    trainer = SFTTrainer(
        model=str(base),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(
            assistant_only_loss=True,
            warmup_ratio=0.5,
            group_by_length=True,
            gradient_checkpointing=False,
            bf16=True,
            model_init_kwargs={"torch_dtype": "float32"},
            **settings,
        ),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
