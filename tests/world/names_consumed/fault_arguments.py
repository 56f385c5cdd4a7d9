"""The arguments carry mappings that nobody reads, and one attribute that was set after they were made."""

import tiny
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    from datasets import Dataset

    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    arguments = SFTConfig(
        assistant_only_loss=True,
        dataset_kwargs={"skip_prepare_datset": True},
        lr_scheduler_kwargs={"num_cycles": 2},
        optim="adamw_torch",
        optim_args="momentum=0.9",
        model_init_kwargs={"device_map": "cpu"},
        **tiny.training_settings(folder),
    )
    arguments.warmup_share = 0.1
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=arguments,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
