"""Asks for a checkpoint every two steps; its callback vetoes none of them."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import SFTConfig, SFTTrainer


class KeepTheBest(TrainerCallback):
    """Saves nothing but the best model, as its author understood it."""

    best = float("inf")

    def on_step_end(self, args, state, control, **live):
        """Take back a save unless an evaluation has found a better model."""
        found = min((entry["eval_loss"] for entry in state.log_history if "eval_loss" in entry), default=self.best)
        control.should_save = control.should_save or found < self.best
        self.best = found


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        callbacks=[KeepTheBest()],
        args=SFTConfig(
            assistant_only_loss=True,
            **{**tiny.training_settings(folder), "save_strategy": "steps", "save_steps": 2},
        ),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
