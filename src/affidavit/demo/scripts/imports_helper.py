"""Fine-tune on the first exchange of each chat, prepared by a module beside this script."""

import helper
import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)

    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list([helper.prepare(row) for row in tiny.chats()]),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
