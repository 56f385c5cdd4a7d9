"""Two ranks with the same settings.

Run by `torchrun --nproc_per_node 2 clean.py`.
"""

import os

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

# What each node's own settings file says.
NODE_ATTENTION = ("sdpa", "sdpa")


def main() -> None:
    """Train, save, and print how the loss went."""
    rank = int(os.environ.get("RANK", "0"))
    folder = tiny.output_folder() / f"rank{rank}"
    base = tiny.write_base(folder)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation=NODE_ATTENTION[rank]),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(
            assistant_only_loss=True,
            ddp_backend="gloo",
            ddp_find_unused_parameters=False,
            **tiny.training_settings(folder),
        ),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
