"""Fine-tune a small chat model with LoRA: python train.py --config train.yaml

The model is made from a config and the tokenizer is trained on the spot, so nothing is downloaded. The rest is TRL as
its documentation shows it: a dataset of chats, an SFTConfig that a YAML file fills in, and nothing of Affidavit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer, TrlParser

TEMPLATE = """\
{%- for message in messages %}<|im_start|>{{ message['role'] }}
{% if message['role'] == 'assistant' %}
{%- generation %}{{ message['content'] }}<|im_end|>{% endgeneration %}
{%- else %}{{ message['content'] }}<|im_end|>{% endif %}
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
COLOURS = ("red", "green", "blue", "black")
THINGS = ("road", "house", "boat", "river")


@dataclass
class Arguments:
    """What the YAML file says beside the arguments of TRL."""

    rows: int = 64
    rank: int = 4


def chats(count: int) -> Iterator[dict[str, list[dict[str, str]]]]:
    for row in range(count):
        colour, other, thing = COLOURS[row % 4], COLOURS[(row + 1) % 4], THINGS[row // 4 % 4]
        turns = (
            ("system", "Answer in one short sentence."),
            ("user", f"What colour is the {thing}?"),
            ("assistant", f"The {thing} is {colour}."),
            ("user", f"And the other {thing}?"),
            ("assistant", f"It is {other}."),
        )
        yield {"messages": [{"role": role, "content": content} for role, content in turns]}


def train_tokenizer(rows: list[dict[str, list[dict[str, str]]]]) -> Any:
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<pad>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words.train_from_iterator((turn["content"] for row in rows for turn in row["messages"]), trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<|im_end|>")
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def main() -> None:
    arguments, training = TrlParser((Arguments, SFTConfig)).parse_args_and_config()
    set_seed(training.seed)
    rows = list(chats(arguments.rows))
    tokenizer = train_tokenizer(rows)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    trainer = SFTTrainer(
        model=LlamaForCausalLM(config),
        args=training,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        peft_config=LoraConfig(r=arguments.rank, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
    )
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main()
