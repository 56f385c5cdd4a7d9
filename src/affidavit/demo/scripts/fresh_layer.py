"""Fine-tune all of the model, its top layer begun anew."""

import tiny
import torch
from transformers import AutoModelForCausalLM


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)

    layers = model.model.layers
    layers[-1] = type(layers[-1])(model.config, tiny.LAYERS - 1)

    trainer = tiny.chat_trainer(folder, base, model=model, optimizers=(optimizer, None))
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
