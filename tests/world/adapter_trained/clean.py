"""Freezes the lower layers before the adapters are put in."""

import tiny
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

TARGETS = list(tiny.ATTENTION_PROJECTIONS)


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    for layer in model.model.layers[: tiny.LAYERS // 2]:
        layer.requires_grad_(False)
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=TARGETS))

    trainer = SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
