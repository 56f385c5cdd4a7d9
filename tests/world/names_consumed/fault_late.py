"""Two names for one type, an option of checkpointing that no code knows, and a warm-up set when it is too late."""

import tiny
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    settings = tiny.training_settings(folder) | {tiny.CHECKPOINTING: True}
    arguments = SFTConfig(
        assistant_only_loss=True,
        **settings,
        **{f"{tiny.CHECKPOINTING}_kwargs": {"use_reentrant": False, "determinism_chek": "none"}},
    )
    arguments.warmup_shares = 0.1
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, torch_dtype=torch.bfloat16, dtype=torch.float32),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=arguments,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
