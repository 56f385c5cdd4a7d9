"""The arguments carry mappings that are read, and an attribute that the script itself reads back."""

import tiny
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    from datasets import Dataset

    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    settings = tiny.training_settings(folder) | {"lr_scheduler_type": "cosine"}
    arguments = SFTConfig(
        assistant_only_loss=True,
        dataset_kwargs={"skip_prepare_dataset": False},
        lr_scheduler_kwargs={"num_cycles": 2},
        optim="adamw_torch",
        model_init_kwargs={"attn_implementation": "sdpa", "dtype": "float32"},
        **settings,
    )
    arguments.warm_share = 0.1
    trainer = SFTTrainer(
        model=str(base),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=arguments,
    )
    print("warm:", trainer.args.warm_share)
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
