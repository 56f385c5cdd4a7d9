"""Every way in which a name is swallowed: the very name is found, with the one that was meant, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from server import Server
from worlds import SCRIPTS, judged, known

from affidavit.fact.observation import Aspect
from affidavit.fact.values import Table

SWALLOWED = {
    "fault": {("AutoTokenizer.from_pretrained", "pading_side", "padding_side")},
    "fault_config": {
        ("AutoConfig.from_pretrained", "attn_implementaton", "attn_implementation"),
        ("BitsAndBytesConfig", "load_in_4bits", "load_in_4bit"),
        ("GenerationConfig", "temprature", "temperature"),
        ("LlamaConfig", "max_position_embeddngs", "max_position_embeddings"),
    },
    "fault_calls": {
        ("Gemma4ForCausalLM.forward", "attention_maks", "attention_mask"),
        ("apply_chat_template", "add_generation_promt", "add_generation_prompt"),
    },
    "fault_encode": {("TokenizersBackend.__call__", "truncaton", "truncation")},
    "fault_arguments": {
        ("SFTConfig", "warmup_share", ""),
        ("SFTConfig(dataset_kwargs=…)", "skip_prepare_datset", "skip_prepare_dataset"),
        ("SFTConfig(lr_scheduler_kwargs=…)", "num_cycles", ""),
        ("SFTConfig(model_init_kwargs=…)", "device_map", ""),
        ("SFTConfig(optim_args=…)", "momentum", ""),
    },
    "fault_late": {
        ("Gemma4ForCausalLM.from_pretrained", "torch_dtype", "dtype"),
        ("SFTConfig", "warmup_shares", "warmup_steps"),
        ("SFTConfig(activation_checkpointing_kwargs=…)", "determinism_chek", "determinism_check"),
    },
}


@pytest.mark.parametrize("script", SWALLOWED)
def test_the_names_that_nobody_reads_are_found_and_no_other(world_server: Server, tmp_path: Path, script: str) -> None:
    path = SCRIPTS[f"names-consumed/{script}"]
    judged(world_server, tmp_path, path)
    table = known(tmp_path)["names.swallowed", Aspect.RESOLVED]
    assert isinstance(table, Table)
    found = set(zip(table.column("callee"), table.column("name"), table.column("near"), strict=True))
    assert found == SWALLOWED[script]
    lines = path.read_text().splitlines()
    for place, line, name in zip(table.column("path"), table.column("line"), table.column("name"), strict=True):
        assert str(place).endswith(f"{script}.py")
        assert isinstance(line, int) and any(str(name) in text for text in lines[line - 1 : line + 12])
