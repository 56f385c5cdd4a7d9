"""L3-33, clean: steps become epochs by the updates of an epoch."""

import math

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


class Planner(SFTTrainer):
    """Plans its steps as the report describes it."""

    def set_initial_training_values(self, args, dataloader):
        """Count the updates of an epoch, and turn steps into epochs with it."""
        epochs, updates, examples, samples, rows, batches, steps = super().set_initial_training_values(args, dataloader)
        epochs = math.ceil(args.max_steps / updates)
        steps = epochs * updates
        return epochs, updates, examples, samples, rows, batches, steps


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    trainer = Planner(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(
            assistant_only_loss=True,
            gradient_accumulation_steps=4,
            **{**tiny.training_settings(folder), "max_steps": 8},
        ),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
