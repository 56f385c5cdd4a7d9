"""A head to be trained whole is misspelt, and a layer that is not there is to be adapted: both are silent."""

import tiny
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        peft_config=LoraConfig(
            task_type="CAUSAL_LM",
            r=8,
            target_modules=["q_proj", "v_proj"],
            modules_to_save=["lm_haed"],
            layers_to_transform=[0, 99],
        ),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
