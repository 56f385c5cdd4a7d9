"""The template asks for an answer with an opened thought, as reasoning models do; no row has one."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

ASKS = "{% if add_generation_prompt %}{{ '<|turn>model\n<think>\n' }}{% endif %}"


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    written, _, _ = tiny.TRAINING_TEMPLATE.rpartition("{% if add_generation_prompt %}")
    base = tiny.write_base(folder, template=written + ASKS)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
