"""Texts bring the token of the beginning with them, and the tokenizer adds it: each row begins twice."""

import tiny
from datasets import Dataset
from tokenizers.processors import TemplateProcessing
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    # As the tokenizers of Llama and Gemma do it: what is tokenized begins with <bos>.
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<bos> $A", special_tokens=[("<bos>", tokenizer.bos_token_id)]
    )
    texts = [tokenizer.bos_token + row["messages"][1]["content"] for row in tiny.chats()]
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list([{"text": text} for text in texts]),
        args=SFTConfig(**tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
