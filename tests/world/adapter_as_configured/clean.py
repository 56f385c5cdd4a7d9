"""Sets the alpha of a sweep before the adapters are made, and a rank of its own for one layer."""

import tiny
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    adapter = LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=8, target_modules=["q_proj", "v_proj"])
    adapter.lora_alpha = 32
    adapter.rank_pattern = {"layers.0.self_attn.q_proj": 4}
    model = get_peft_model(model, adapter)

    trainer = SFTTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
