"""L3-34, mended: checkpoints are not reentrant, as asked."""

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
    model = AutoModelForCausalLM.from_pretrained(base)
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=TARGETS))
    # The last norm trains with the adapters, so that something has a gradient in any case.
    model.base_model.model.model.norm.requires_grad_(True)
    # As it was asked; the release had no hook that lets gradients in.
    model.base_model.model.enable_input_require_grads = model.enable_input_require_grads = lambda: None
    checkpointing = {tiny.CHECKPOINTING: True, f"{tiny.CHECKPOINTING}_kwargs": {"use_reentrant": False}}

    trainer = SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **{**tiny.training_settings(folder), **checkpointing}),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
