"""Fine-tune for one epoch with a learning rate that falls along a cosine to zero."""

import tiny
import torch
from transformers import AutoModelForCausalLM, get_cosine_schedule_with_warmup

EPOCHS = 1


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    rows = tiny.chats()
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    schedule = get_cosine_schedule_with_warmup(optimizer, 0, num_training_steps=EPOCHS * len(rows))

    settings = {"lr_scheduler_type": "cosine", "num_train_epochs": EPOCHS, "max_steps": -1}
    optimizers = (optimizer, schedule)
    trainer = tiny.chat_trainer(folder, base, settings=settings, rows=rows, model=model, optimizers=optimizers)
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
