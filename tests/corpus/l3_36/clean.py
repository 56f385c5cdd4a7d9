"""L3-36, as it was before: the adapter's names are the model's."""

import tiny
from datasets import Dataset
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

TARGETS = list(tiny.ATTENTION_PROJECTIONS)


def main() -> None:
    """Go on with an adapter that was saved before the model's modules got other names."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    settings = LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=TARGETS)
    first = get_peft_model(AutoModelForCausalLM.from_pretrained(base), settings)
    first.save_pretrained(folder / "adapter")
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), folder / "adapter", is_trainable=True)

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
