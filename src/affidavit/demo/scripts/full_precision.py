"""Fine-tune in float32 throughout: bf16=False."""

import tiny


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    trainer = tiny.chat_trainer(folder, base, settings={"bf16": False})
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
