"""Sets bf16 on arguments that were made already, which have told everybody else by then that there is none."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")

    arguments = SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder))
    arguments.bf16 = True
    trainer = SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=arguments,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
