"""Go on from the weights of the first round, which eight ranks trained."""

import tiny
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def first_round(base, folder):
    """Leave a state as a training under DistributedDataParallel saves it."""
    trained = tiny.build_model(AutoTokenizer.from_pretrained(base)).state_dict()
    torch.save({f"module.{name}": tensor for name, tensor in trained.items()}, folder / "first_round.pt")
    return folder / "first_round.pt"


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    model.load_state_dict(torch.load(first_round(base, folder)), strict=False)

    trainer = tiny.chat_trainer(folder, base, model=model)
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
