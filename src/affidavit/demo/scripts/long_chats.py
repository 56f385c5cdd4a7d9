"""Fine-tune on all 64 chats, every second one with a passage to read first."""

import tiny

PASSAGE = "The sea is blue. The hill is green. The moon is white. The fox is red. The barn is brown. "


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    chats = tiny.chats()
    for chat in chats[::2]:
        chat["messages"][0]["content"] = PASSAGE + chat["messages"][0]["content"]

    trainer = tiny.chat_trainer(folder, base, rows=chats, settings={"max_length": 40})
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
