"""A model in 16 bits as it lies on a disk, of a family that both stacks have."""

from pathlib import Path

import tiny
import torch
from transformers import LlamaConfig, LlamaForCausalLM


def write(folder: Path) -> Path:
    """Write tokenizer, config and bfloat16 weights under a folder."""
    base = folder / "base"
    tokenizer = tiny.build_tokenizer()
    tokenizer.save_pretrained(base)
    torch.manual_seed(tiny.SEED)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(base)
    return base


def quiet(folder: Path) -> dict:
    """Return what a script says of a training besides what this is about: nothing that decides its result."""
    where = {"output_dir": str(folder / "trained"), "save_strategy": "no", "report_to": "none"}
    return {**where, "max_steps": 4, "use_cpu": True, "disable_tqdm": True}
