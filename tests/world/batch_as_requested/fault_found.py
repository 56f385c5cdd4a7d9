"""Asks for four rows, or as many as fit: two do."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


class SmallMemory(SFTTrainer):
    """Has room for two rows."""

    def training_step(self, model, inputs, num_items_in_batch=None):
        """Fail as a device does whose memory is full."""
        if len(inputs["input_ids"]) > 2:
            raise RuntimeError("CUDA out of memory.")
        return super().training_step(model, inputs, num_items_in_batch)


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")

    trainer = SmallMemory(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, auto_find_batch_size=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
