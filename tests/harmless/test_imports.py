"""Whichever framework a script imports first, the same is imported as without us, and every adapter attaches."""

from __future__ import annotations

from pathlib import Path

import pytest
from twice import Runner

from affidavit.fact.folder import REFUSED

TRANSFORMERS_FIRST = """
import json, sys
import transformers
alone = "torch" in sys.modules
from transformers import Trainer
heard = [found.__name__ for found in sys.modules["transformers.trainer"].DEFAULT_CALLBACKS]
print(json.dumps({"torch comes along": alone, "heard": "AffidavitCallback" in heard, "torch": "torch" in sys.modules}))
"""
TORCH_FIRST = "import torch\n" + TRANSFORMERS_FIRST


@pytest.mark.parametrize(("source", "alone"), [(TRANSFORMERS_FIRST, False), (TORCH_FIRST, True)])
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
