"""The tokenizer is asked to pad on the left by the name that it reads."""

import tiny
from transformers import AutoTokenizer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base, padding_side="left")
    trainer = tiny.chat_trainer(folder, base, processing_class=tokenizer)
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
