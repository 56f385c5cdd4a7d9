"""Callables that take whatever a model, a tokenizer or a configuration takes: no valid name of theirs is unknown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from affidavit.lint.catalogue import Catalogue
from affidavit.names.signature import Rest, Signature

HUB = "revision token trust_remote_code subfolder cache_dir local_files_only force_download proxies"
MODEL = (
    f"{HUB} attn_implementation dtype torch_dtype device_map quantization_config use_cache low_cpu_mem_usage variant"
    " max_memory offload_folder use_safetensors ignore_mismatched_sizes num_labels id2label label2id problem_type"
    " attention_dropout sliding_window output_attentions output_hidden_states config state_dict gguf_file"
    " rope_scaling vocab_size tie_word_embeddings hidden_dropout_prob pad_token_id key_mapping code_revision"
)
TOKENIZER = (
    f"{HUB} use_fast padding_side truncation_side model_max_length add_bos_token add_eos_token pad_token eos_token"
    " bos_token unk_token legacy chat_template additional_special_tokens extra_special_tokens add_prefix_space"
    " tokenizer_file clean_up_tokenization_spaces split_special_tokens do_lower_case"
)
CALLS = {
    "transformers.AutoModelForCausalLM.from_pretrained": (MODEL, Rest.OPEN),
    "transformers.AutoModel.from_pretrained": (MODEL, Rest.OPEN),
    "transformers.LlamaForCausalLM.from_pretrained": (MODEL, Rest.OPEN),
    "transformers.PreTrainedModel.from_pretrained": (MODEL, Rest.OPEN),
    "transformers.AutoModelForCausalLM.from_config": ("attn_implementation dtype trust_remote_code", Rest.OPEN),
    "transformers.AutoTokenizer.from_pretrained": (TOKENIZER, Rest.KEPT),
    "transformers.PreTrainedTokenizerFast": ("tokenizer_file pad_token padding_side tokenizer_object", Rest.KEPT),
    "transformers.AutoConfig.from_pretrained": (f"{HUB} attn_implementation num_labels hidden_size", Rest.KEPT),
    "transformers.LlamaConfig": (
        "hidden_size rope_theta num_labels attn_implementation dtype torch_dtype id2label use_cache name_or_path",
        Rest.KEPT,
    ),
    "transformers.LlamaConfig.from_pretrained": (f"{HUB} hidden_size attn_implementation", Rest.KEPT),
    "transformers.GPT2Config": ("n_embd hidden_size n_positions max_position_embeddings", Rest.KEPT),
    "transformers.GenerationConfig": ("temperature max_new_tokens do_sample eos_token_id", Rest.KEPT),
    "transformers.BitsAndBytesConfig": ("load_in_4bit bnb_4bit_compute_dtype", Rest.KEPT),
    "transformers.PreTrainedModel.generate": ("max_new_tokens temperature input_ids streamer", Rest.OPEN),
    "transformers.GenerationMixin.generate": ("max_new_tokens temperature generation_config", Rest.OPEN),
    "transformers.PreTrainedTokenizerBase.apply_chat_template": (
        "tokenize add_generation_prompt return_dict chat_template return_tensors",
        Rest.KEPT,
    ),
    "transformers.PreTrainedTokenizerBase.__call__": ("padding truncation max_length return_tensors", Rest.OPEN),
    "peft.AutoPeftModelForCausalLM.from_pretrained": ("dtype device_map attn_implementation", Rest.OPEN),
}


@pytest.fixture(scope="module")
def newer() -> Catalogue:
    return Catalogue(list(Path(sys.prefix).glob("lib/python3*/site-packages")), None)


@pytest.fixture(scope="module")
def older(old_python: Path) -> Catalogue:
    first = old_python.parent.parent.glob("lib/python3*/site-packages")
    return Catalogue([*first, *Path(sys.prefix).glob("lib/python3*/site-packages")], None)


@pytest.mark.parametrize("callee", CALLS)
@pytest.mark.parametrize("stack", ["newer", "older"])
def test_a_valid_name_is_known(callee: str, stack: str, request: pytest.FixtureRequest) -> None:
    names, rest = CALLS[callee]
    catalogue: Catalogue = request.getfixturevalue(stack)
    found = catalogue.find(callee)
    assert isinstance(found, Signature), found
    assert set(names.split()) - set(found.parameters) == set()
    assert found.rest is rest


@pytest.mark.parametrize(
    ("callee", "name"),
    [
        ("transformers.AutoModelForCausalLM.from_pretrained", "attn_implementaton"),
        ("transformers.AutoModelForCausalLM.from_pretrained", "torch_dtyp"),
        ("transformers.AutoTokenizer.from_pretrained", "padding_sid"),
        ("transformers.LlamaConfig", "rop_theta"),
        ("transformers.GenerationConfig", "max_new_token"),
        ("transformers.BitsAndBytesConfig", "load_in_4bits"),
        ("transformers.AutoModelForCausalLM.from_pretrained", "load_in_4bit"),
    ],
)
def test_a_misspelt_name_is_not_known(callee: str, name: str, newer: Catalogue) -> None:
    found = newer.find(callee)
    assert isinstance(found, Signature)
    assert name not in found.parameters
