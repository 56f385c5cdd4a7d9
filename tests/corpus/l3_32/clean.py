"""L3-32, clean: every update of an epoch is planned."""

import math

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


class Planner(SFTTrainer):
    """Plans its steps as the report describes it."""

    def set_initial_training_values(self, args, dataloader):
        """Count the updates of an epoch, the last one among them."""
        epochs, updates, examples, samples, rows, batches, steps = super().set_initial_training_values(args, dataloader)
        steps = math.ceil(args.num_train_epochs * math.ceil(len(dataloader) / args.gradient_accumulation_steps))
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
            num_train_epochs=3,
            gradient_accumulation_steps=5,
            **{**tiny.training_settings(folder), "max_steps": -1},
        ),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
