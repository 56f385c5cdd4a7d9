"""L3b-06: the template has lost the end behind an answer.

Caught by turns-end-supervised.
"""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

CAUGHT_BY = "turns-end-supervised"


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    ends = "message['content'] + '<turn|>' }}{% endgeneration %}"
    template = tiny.TRAINING_TEMPLATE.replace(ends, "message['content'] }}{% endgeneration %}")
    base = tiny.write_base(folder, template=template)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
