"""Nothing is said of precision: SFTConfig switches bf16 on, and a frozen base stays as its checkpoint holds it."""

import tiny
import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train adapters, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    tiny.build_model(tokenizer).to(torch.bfloat16).save_pretrained(base)
    settings = tiny.training_settings(folder)
    del settings["bf16"]
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(tiny.chats()),
        peft_config=LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=["q_proj", "v_proj"]),
        args=SFTConfig(assistant_only_loss=True, **settings),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
