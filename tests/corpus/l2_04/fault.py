"""L2-04: the limit given under its older name has no effect, the default of the newer rules. Planted."""

from dataclasses import dataclass

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

CAUGHT_BY = "rows-within-max-length"


@dataclass
class Arguments(SFTConfig):
    """Arguments that know the limit by its older name as well."""

    max_seq_length: int | None = None


def within(limit: int, tokenizer) -> Dataset:
    """Leave out the chats that are longer than the limit."""
    kept = [chat for chat in tiny.chats() if len(tokenizer.apply_chat_template(chat["messages"])["input_ids"]) <= limit]
    return Dataset.from_list(kept)


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    settings = tiny.training_settings(folder)
    del settings["max_length"]
    settings["per_device_train_batch_size"] = 16
    arguments = Arguments(assistant_only_loss=True, max_seq_length=40, **settings)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=tokenizer,
        train_dataset=within(arguments.max_length, tokenizer),
        args=arguments,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
