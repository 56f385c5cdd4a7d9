"""Whichever framework a script imports first, the same is imported as without us, and the same is seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from twice import Runner

from affidavit.fact.folder import REFUSED

LIBRARY_FIRST = """
import json, sys
import transformers
alone = "torch" in sys.modules
from transformers import Trainer
heard = [found.__name__ for found in sys.modules["transformers.trainer"].DEFAULT_CALLBACKS]
print(json.dumps({"torch comes along": alone, "heard": "AffidavitCallback" in heard, "torch": "torch" in sys.modules}))
"""
TORCH_FIRST = "import torch\n" + LIBRARY_FIRST
TRAINS = """
from transformers import LlamaConfig, LlamaForCausalLM
import torch
config = LlamaConfig(vocab_size=32, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2)
model = LlamaForCausalLM._from_config(config, attn_implementation="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    ids = torch.arange(8)[None]
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("{}")
"""


@pytest.mark.parametrize(("source", "alone"), [(LIBRARY_FIRST, False), (TORCH_FIRST, True)])
def test_an_import_brings_what_it_brings_without_us(
    fresh_runner: Runner, tmp_path: Path, source: str, alone: bool
) -> None:
    script = tmp_path / "order.py"
    script.write_text(source)
    bare, observed = fresh_runner.bare(str(script)), fresh_runner.observed(str(script))
    assert bare.said == {"torch comes along": alone, "heard": False, "torch": True}
    assert observed.said == {"torch comes along": alone, "heard": True, "torch": True}
    refused = observed.spool / REFUSED
    assert not refused.exists(), refused.read_text()


@pytest.mark.parametrize("first", ["import transformers", "import torch", "import trl"])
def test_who_knows_more_of_the_model_has_the_last_word(fresh_runner: Runner, tmp_path: Path, first: str) -> None:
    script = tmp_path / "order.py"
    script.write_text(f"{first}\n{TRAINS}")
    observed = fresh_runner.observed(str(script))
    assert observed.known("attention.requested") == "eager", observed.stderr
    assert "own code" not in str(observed.known("attention.configured"))
