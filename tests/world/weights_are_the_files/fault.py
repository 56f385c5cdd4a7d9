"""Loads weights that were saved from inside a wrapper: no name fits, and a warning is all there is."""

import safetensors.torch
import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    weights = base / "model.safetensors"
    # As a distributed wrapper names them, and who saves through it.
    wrapped = {f"module.{name}": tensor for name, tensor in safetensors.torch.load_file(weights).items()}
    safetensors.torch.save_file(wrapped, weights, metadata={"format": "pt"})
    model = AutoModelForCausalLM.from_pretrained(base)

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
