"""L2-14, clean: the switch leaves the asked saving alone where nothing is evaluated."""

from dataclasses import dataclass

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


@dataclass
class Arguments(SFTConfig):
    """Arguments with a switch that keeps the best model."""

    keep_the_best: bool = False

    def __post_init__(self) -> None:
        """Save when there is an evaluation to be the best of, if there is one."""
        if self.keep_the_best and self.eval_strategy != "no":
            self.save_strategy = self.eval_strategy
        super().__post_init__()


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    settings = tiny.training_settings(folder)
    del settings["save_strategy"]
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=Arguments(assistant_only_loss=True, keep_the_best=True, save_steps=2, **settings),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
