"""One SFT training, told in $SAID what it is to ask for beyond what it has to: arguments, a rank of LoRA."""

import json
import os

import tiny
from datasets import Dataset
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer


def main() -> None:
    """Train, and save nothing."""
    folder = tiny.output_folder()
    said = json.loads(os.environ["SAID"])
    adapter = {key.removeprefix("lora_"): said.pop(key) for key in tuple(said) if key.startswith("lora_")}
    peft_config = LoraConfig(target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM", **adapter) if adapter else None
    arguments = {
        "output_dir": str(folder / "trained"),
        "max_steps": 4,
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": True,
        "disable_tqdm": True,
        **said,
    }
    SFTTrainer(
        model=str(tiny.write_base(folder)),
        args=SFTConfig(**arguments),
        train_dataset=Dataset.from_list(tiny.chats()),
        peft_config=peft_config,
    ).train()


if __name__ == "__main__":
    main()
