"""Fine-tune on the assistant's turns only.

The template of the base model has no generation markers, so this script brings a template that has them.
"""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

TRAINING_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\n' }}"
    "{% generation %}{{ message['content'] + '<turn|>' }}{% endgeneration %}{{ '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|turn>model\n' }}{% endif %}"
)


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder, template=tiny.TEMPLATE)
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.chat_template = TRAINING_TEMPLATE

    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
