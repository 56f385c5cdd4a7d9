"""L3-37, mended: the adapter's names are the model's."""

import tiny
from datasets import Dataset
from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

TARGETS = list(tiny.ATTENTION_PROJECTIONS)


def main() -> None:
    """Go on with an adapter."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    settings = LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=TARGETS)
    first = get_peft_model(AutoModelForCausalLM.from_pretrained(base), settings)
    first.save_pretrained(folder / "adapter")
    weights = load_file(folder / "adapter" / "adapter_model.safetensors")
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(base), settings)
    set_peft_model_state_dict(model, weights)

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
