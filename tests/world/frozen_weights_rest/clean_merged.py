"""Reads its adapter at each step, and leaves the frozen weights alone."""

import tiny
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import SFTConfig, SFTTrainer

TARGETS = list(tiny.ATTENTION_PROJECTIONS)


class Preview(TrainerCallback):
    """Hands the merged weights to a sampler after each step, as online trainers do."""

    def on_step_end(self, args, state, control, model=None, **live) -> None:
        """Sample."""
        sum(parameter.sum() for name, parameter in model.named_parameters() if "lora_" in name)


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base)
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=TARGETS))

    trainer = SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        callbacks=[Preview()],
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
