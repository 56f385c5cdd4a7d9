"""Rows of history: each has a source, none contradicts what is installed, and a person can read them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from affidavit.lint.catalogue import Catalogue
from affidavit.names import history
from affidavit.names.history import Gone, Semantic
from affidavit.names.history.row import order
from affidavit.names.signature import Signature

FACTS = {
    ("transformers.TrainingArguments", "evaluation_strategy"): "eval_strategy",
    ("transformers.training_args.TrainingArguments", "warmup_ratio"): "warmup_steps below 1",
    ("transformers.Seq2SeqTrainingArguments", "group_by_length"): 'train_sampling_strategy="group_by_length"',
    ("trl.trainer.sft_config.SFTConfig", "no_cuda"): "use_cpu",
    ("trl.DPOConfig", "logging_dir"): "TENSORBOARD_LOGGING_DIR",
    ("trl.SFTConfig", "max_seq_length"): "now max_length",
    ("transformers.Trainer", "tokenizer"): "processing_class",
    ("trl.SFTTrainer", "tokenizer"): "processing_class",
    ("trl.SFTTrainer", "dataset_text_field"): "dataset_text_field of SFTConfig",
    ("transformers.AutoModelForCausalLM.from_pretrained", "load_in_4bit"): "BitsAndBytesConfig(load_in_4bit=True)",
    ("transformers.LlamaForCausalLM.from_pretrained", "use_flash_attention_2"): "attn_implementation",
    ("transformers.AutoModel.from_pretrained", "torch_dtype"): "now dtype",
    ("transformers.AutoTokenizer.from_pretrained", "use_auth_token"): "now token",
    ("trl.ModelConfig", "torch_dtype"): "now dtype",
    ("trl.DPOConfig", "max_prompt_length"): "max_length",
    ("trl.RLOOConfig", "rloo_k"): "num_generations",
}


@pytest.mark.parametrize(("callee", "name"), FACTS)
def test_a_name_that_is_gone_has_a_successor(callee: str, name: str) -> None:
    assert FACTS[callee, name] in history.said_of(callee, name)


@pytest.mark.parametrize(
    ("callee", "name"),
    [
        ("transformers.TrainingArguments", "learning_rate"),
        ("peft.LoraConfig", "warmup_ratio"),
        ("trl.ModelConfig", "warmup_ratio"),
        ("transformers.AutoTokenizer.from_pretrained", "load_in_4bit"),
        ("torch.optim.AdamW", "tokenizer"),
    ],
)
def test_nothing_is_said_of_others(callee: str, name: str) -> None:
    assert history.said_of(callee, name) == ""


@pytest.mark.parametrize("row", history.GONE, ids=lambda row: row.name)
def test_every_removal_names_what_was_read(row: Gone) -> None:
    assert re.fullmatch(r"(transformers|trl) \d+\.\d+\.\d+( and \d+\.\d+\.\d+)?, .+", row.source)
    if row.since:
        assert f" and {row.since}" in row.source or f" {row.since} and " in row.source


@pytest.mark.parametrize("row", history.MEANINGS, ids=lambda row: f"{row.package}-{row.name}")
def test_every_meaning_has_both_sides_and_a_source(row: Semantic) -> None:
    assert row.was
    assert row.now
    assert row.since in row.source or "run on" in row.source
    assert row.applies in {"given", "left", "share"}


REPRESENTATIVES = (
    *("transformers.TrainingArguments", "transformers.Trainer", "transformers.Trainer.train", "trl.SFTConfig"),
    *("trl.SFTTrainer", "trl.DPOConfig", "trl.DPOTrainer", "trl.GRPOConfig", "trl.KTOConfig", "trl.RLOOConfig"),
    *("trl.RewardTrainer", "trl.ModelConfig", "trl.ScriptArguments", "trl.TrlParser"),
    "transformers.AutoModelForCausalLM.from_pretrained",
)
BACKWARD = {"torch_dtype"}
"""Names that are still taken beside their successor."""


def test_what_is_gone_is_not_installed_and_was_there(old_python: Path) -> None:
    """The diff of both installed stacks decides; a row that it contradicts is wrong."""
    site = list(Path(sys.prefix).glob("lib/python3*/site-packages"))
    newer = Catalogue(site, None)
    older = Catalogue([*old_python.parent.parent.glob("lib/python3*/site-packages"), *site], None)
    seen = 0
    for row in history.GONE:
        for callee in filter(row.family.has, REPRESENTATIVES):
            now, then = newer.find(callee), older.find(callee)
            assert isinstance(now, Signature)
            assert isinstance(then, Signature)
            assert row.name in BACKWARD or row.name not in now.parameters, (callee, row)
            was = {"transformers": "4.57.6", "trl": "0.24.0"}[row.package]
            if row.since and order(row.since) > order(was) and callee.startswith(row.package):
                assert row.name in then.parameters, (callee, row)
                seen += 1
    assert seen > 80


def test_the_meanings_between_two_versions_are_those_that_moved_on_the_way() -> None:
    names = {row.name for row in history.changes("transformers", "4.57.6", "5.24.0")}
    assert {"dtype", "return_dict", "warmup_steps"} <= names
    assert history.changes("transformers", "5.24.0", "4.57.6") == history.changes("transformers", "4.57.6", "5.24.0")
    assert history.changes("transformers", "5.0.0", "5.24.0") == ()
    assert history.changes("transformers", "5.24.0", "5.24.0") == ()
    assert history.changes("nothing", "1", "9") == ()


@pytest.mark.parametrize(
    ("name", "given", "met"),
    [
        ("warmup_steps", {"warmup_steps": "1.0"}, True),
        ("warmup_steps", {"warmup_steps": "0.1"}, True),
        ("warmup_steps", {"warmup_steps": "1"}, False),
        ("warmup_steps", {"warmup_steps": "100"}, False),
        ("warmup_steps", {"warmup_steps": "10.5"}, False),
        ("warmup_steps", {"warmup_steps": ""}, False),
        ("warmup_steps", {}, False),
        ("dtype", {}, True),
        ("dtype", {"torch_dtype": "'auto'"}, False),
        ("dtype", {"dtype": "torch.float32"}, False),
        ("return_dict", {"tokenize": "True"}, True),
        ("return_dict", {"return_dict": "False"}, False),
    ],
)
def test_a_meaning_applies_to_what_is_asked(name: str, given: dict[str, str], met: bool) -> None:
    (row,) = [row for row in history.MEANINGS if row.name == name and row.package == "transformers"]
    assert row.is_met(given) is met


def test_versions_compare_by_their_numbers() -> None:
    assert order("5.10.0") > order("5.9.1")
    assert order("2.13.0+cpu") == order("2.13")
    assert order("5.0.0rc1") == order("5.0.0")
    assert order("") == ()
