"""Goes on from a checkpoint, whose weights are other than those it loaded first."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train six steps and save; go on to the twelfth."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    for steps, checkpoint in ((tiny.STEPS, None), (2 * tiny.STEPS, True)):
        settings = {**tiny.training_settings(folder), "save_strategy": "steps", "save_steps": 6, "max_steps": steps}
        trainer = SFTTrainer(
            model=AutoModelForCausalLM.from_pretrained(base),
            processing_class=AutoTokenizer.from_pretrained(base),
            train_dataset=Dataset.from_list(tiny.chats()),
            args=SFTConfig(assistant_only_loss=True, **settings),
        )
        trainer.train(resume_from_checkpoint=checkpoint)
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
