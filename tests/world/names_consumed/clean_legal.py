"""Names that no signature shows and that are right all the same: a class of the script reads them, or a loader."""

import json

import tiny
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    GPT2Config,
    LlamaConfig,
    PreTrainedTokenizerFast,
)


class HouseConfig(LlamaConfig):
    """A config with a name of its own, and one that it takes out of the rest."""

    model_type = "house"

    def __init__(self, gates=2, **kwargs):
        self.gates = gates
        self.doors = kwargs.pop("doors", 1)
        super().__init__(**kwargs)


class HouseTokenizer(PreTrainedTokenizerFast):
    """A tokenizer that takes one more name, and one more in its call."""

    def __init__(self, *args, shout=False, **kwargs):
        super().__init__(*args, **kwargs)
        self.shout = shout

    def __call__(self, text, *args, louder=False, **kwargs):
        return super().__call__([one.upper() for one in text] if louder else text, *args, **kwargs)


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    held = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(json.dumps({**held, "written_by_somebody": 1}))
    settings = json.loads((base / "generation_config.json").read_text())
    (base / "generation_config.json").write_text(json.dumps({**settings, "also_written": 2}))

    made = HouseConfig(gates=3, doors=4, hidden_size=64, num_attention_heads=4, rope_theta=1e4, torch_dtype="float32")
    alias = GPT2Config(hidden_size=64, num_attention_heads=4, num_hidden_layers=2)
    print(
        made.gates, made.doors, alias.n_embd, AutoConfig.from_pretrained(base, cache_dir=str(folder), use_cache=False)
    )
    own = HouseTokenizer.from_pretrained(base, shout=True, model_max_length=64, use_fast=True)
    print(own(["one", "two"], louder=True, add_special_tokens=False, truncation=True, max_length=4))
    tokenizer = AutoTokenizer.from_pretrained(base, padding_side="right", cache_dir=str(folder), local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(
        base, attn_implementation="sdpa", torch_dtype=torch.float32, cache_dir=str(folder), low_cpu_mem_usage=True
    )
    model.generation_config = GenerationConfig.from_pretrained(base, max_new_tokens=8)

    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    for step in range(tiny.STEPS):
        batch = tokenizer.apply_chat_template(
            [row["messages"] for row in tiny.chats()[step * 4 : step * 4 + 4]],
            chat_template=tiny.TRAINING_TEMPLATE,
            return_assistant_tokens_mask=True,
            return_dict=True,
            return_tensors="pt",
            padding=True,
        )
        labels = batch["input_ids"].masked_fill(torch.as_tensor(batch.pop("assistant_masks")) == 0, -100)
        loss = model(**batch, labels=labels, num_items_in_batch=(labels != -100).sum()).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    model.save_pretrained(folder / "trained")
    tiny.tell(losses)


if __name__ == "__main__":
    main()
