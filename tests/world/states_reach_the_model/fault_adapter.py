"""Goes on with an adapter whose names are those of an older release of the model: a new one trains."""

import safetensors.torch
import tiny
from datasets import Dataset
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

TARGETS = list(tiny.ATTENTION_PROJECTIONS)


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    first = AutoModelForCausalLM.from_pretrained(base)
    settings = LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=TARGETS)
    get_peft_model(first, settings).save_pretrained(folder / "adapter")
    weights = folder / "adapter" / "adapter_model.safetensors"
    # The release before called its stack of layers otherwise.
    older = {name.replace("layers.", "blocks."): one for name, one in safetensors.torch.load_file(weights).items()}
    safetensors.torch.save_file(older, weights, metadata={"format": "pt"})
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
