"""Yesterday everything was supervised, today the assistant only: the map serves what yesterday built."""

import importlib
import json
import sys
from pathlib import Path

import tiny
from datasets import disable_progress_bars, load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

POLICY = """
SUPERVISED = {supervised!r}

def encode(row, tokenizer):
    encoded = tokenizer.apply_chat_template(row["messages"], return_assistant_tokens_mask=True, return_dict=True)
    lit = encoded["assistant_masks"] if SUPERVISED == "assistant" else [1] * len(encoded["input_ids"])
    return {{"input_ids": encoded["input_ids"], "assistant_masks": lit}}
"""


def encoded(folder: Path, tokenizer, supervised: str):
    """Encode the chats as one run of this script would, with the policy that holds on that day."""
    (folder / "policy.py").write_text(POLICY.format(supervised=supervised))
    sys.modules.pop("policy", None)
    policy = importlib.import_module("policy")
    rows = load_dataset("json", data_files=str(folder / "chats.jsonl"), cache_dir=str(folder / "cache"), split="train")
    return rows.map(policy.encode, fn_kwargs={"tokenizer": tokenizer}, remove_columns=["messages"])


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    disable_progress_bars()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    (folder / "chats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tiny.chats()))
    encoded(folder, tokenizer, "everything")
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=tokenizer,
        train_dataset=encoded(folder, tokenizer, "assistant"),
        args=SFTConfig(**tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
