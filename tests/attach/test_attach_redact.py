"""Secrets are found in each shape that they come in, and what only looks like one is left to be read."""

from __future__ import annotations

import time

import pytest

from affidavit.attach.redact import HIDDEN, is_secret_name, redact, redact_arguments, redact_value

HF = "hf_" + "AbCdEfGh" * 4 + "Ij"
OPAQUE = "q7Zk2Lw9Xb4Tn8Vr3Ym6Pd1Sc5Gh0Jf2Ka"

SECRETS = {
    "a hub token": HF,
    "a classic GitHub token": "ghp_" + "a1B2" * 9,
    "a fine-grained GitHub token": "github_pat_11ABCDEFG0" + "x9" * 20,
    "a GitLab token": "glpat-" + "xY9_" * 5,
    "an OpenAI key": "sk-proj-" + "aB3d" * 10,
    "an AWS key id": "AKIAIOSFODNN7EXAMPLE",
    "a Slack token": "xoxb-123456789012-" + "aB3dE5" * 4,
    "a Google key": "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6",
    "a JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9",
    "an opaque word": OPAQUE,
}
"""Each is found without a name beside it."""

NAMED = {
    "a flag": "--hub_token=hunter2",
    "a spaced assignment": "password = hunter2",
    "YAML": "api_key: hunter2",
    "YAML in quotes": "api_key: 'hunter2'",
    "JSON": '{"wandb_api_key": "hunter2", "rate": 1}',
    "Python keywords": "TrainingArguments(hub_token='hunter2', seed=1)",
    "an environment file": "export MY_SERVICE_SECRET=hunter2",
    "a URL's user": "postgresql://me:hunter2@db.example/x",
    "a URL's user alone": "https://hunter2@github.com/me/x",
    "a URL's query": "https://host/x?access_token=hunter2&page=2",
    "a signed URL": "https://bucket/x?X-Amz-Signature=hunter2&X-Amz-Date=20260101",
    "a header": "Authorization: Bearer hunter2",
    "a header of basic authentication": "Authorization: Basic hunter2",
    "a cookie": "Cookie: session=hunter2",
    "a secret with spaces": 'password: "hunter2 hunter2"',
    "a key of camel case": '{"apiKey": "hunter2", "clientSecret": "hunter2"}',
    "a name in capitals": "AWS_SECRET_ACCESS_KEY=hunter2",
    "a Python dict": "{'token': 'hunter2'}",
}
"""Each holds ``hunter2``, which is found by what stands around it only."""

INNOCENT = (
    "max_new_tokens=256",
    "num_tokens: 12",
    "--eos_token <|im_end|>",
    "pad_token='<pad>'",
    "tokenizer_name=HuggingFaceTB/SmolLM2-135M-Instruct",
    "tokenizer=./tokenizers/my-tokenizer-v2",
    "token_type_ids",
    "tokens_per_second=1234.5",
    "add_special_tokens: true",
    "author: Jane Roe",
    "3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "meta-llama/Meta-Llama-3.1-70B-Instruct",
    "/data/runs/2026-01-01_12-00-00/checkpoint-1200/model-00001-of-00004.safetensors",
    "mistralai/Mixtral-8x7B-Instruct-v0.1",
    "unsloth/Qwen2.5-Coder-32B-Instruct-bnb-4bit",
    "model.layers.0.self_attn.q_proj,model.layers.0.self_attn.k_proj",
    "per_device_train_batch_size=4",
    "lr_scheduler_type=cosine_with_min_lr",
    "monkey=1",
    "keyboard: yes",
    "passes: 3",
    "2026-11-30T12:02:59+00:00",
    "00000000-0000-4000-8000-000000000000",
    "key_value_heads=8",
    "num_key_value_heads: 8",
    "hidden_size=4096 intermediate_size=14336",
    "flash_attention_2_with_sliding_window_and_softcapping",
    "1e-5,2e-5,3e-5",
    "https://huggingface.co/datasets/HuggingFaceH4/ultrachat_200k/resolve/main/data.parquet",
    "token_budget=100000",
    "compute_tokens=true",
    "authors=3",
)


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_known_by_its_shape(kind: str) -> None:
    secret = SECRETS[kind]
    for text in (secret, f"--flag {secret}", f"model={secret}", f"[{secret}, 1]", f"see {secret}.", f'"{secret}"'):
        found = redact(text)
        assert secret not in found, text
        assert secret[len(secret) // 2 :] not in found, text
        assert HIDDEN in found


@pytest.mark.parametrize("kind", NAMED)
def test_a_secret_is_known_by_what_stands_around_it(kind: str) -> None:
    found = redact(NAMED[kind])
    assert "hunter2" not in found, found
    assert HIDDEN in found


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_like_one_is_left(text: str) -> None:
    assert redact(text) == text
    assert redact_arguments(text.split()) == tuple(text.split())


def test_text_around_a_secret_stays() -> None:
    assert redact("rows differ: token=hunter2 in 3") == f"rows differ: token={HIDDEN} in 3"
    assert redact("https://host/x?access_token=hunter2&page=2") == f"https://host/x?access_token={HIDDEN}&page=2"
    assert redact("postgresql://me:hunter2@db.example/x") == f"postgresql://{HIDDEN}@db.example/x"
    assert redact("rate: 1\napi_key: hunter2\nseed: 7") == f"rate: 1\napi_key: {HIDDEN}\nseed: 7"


def test_a_private_key_is_hidden_whole() -> None:
    body = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEF"] * 3)
    whole = f"x\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\ny"
    assert redact(whole) == f"x\n{HIDDEN}\ny"
    assert "MIIEvQ" not in redact(whole[:80])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--hub-token", "hunter2", "--seed", "7"), ("--hub-token", HIDDEN, "--seed", "7")),
        (("--hub-token=hunter2",), (f"--hub-token={HIDDEN}",)),
        (("-p", "hunter2"), ("-p", "hunter2")),
        (("--push_to_hub", "--hub_token", "-"), ("--push_to_hub", "--hub_token", HIDDEN)),
        (("--password", "--seed", "7"), ("--password", "--seed", "7")),
        (("hub_token=hunter2",), (f"hub_token={HIDDEN}",)),
        (
            ("training.hub_token=hunter2", "+wandb.api_key=hunter2"),
            (f"training.hub_token={HIDDEN}", f"+wandb.api_key={HIDDEN}"),
        ),
        (("--config", '{"api_key": "hunter2"}'), ("--config", f'{{"api_key": "{HIDDEN}"}}')),
        (("WANDB_API_KEY=hunter2", "python", "train.py"), (f"WANDB_API_KEY={HIDDEN}", "python", "train.py")),
        (("--header", "Authorization: Bearer hunter2"), ("--header", f"Authorization: {HIDDEN}")),
        (("--wandb-key", "hunter2"), ("--wandb-key", HIDDEN)),
        (("--max_new_tokens", "256"), ("--max_new_tokens", "256")),
    ],
)
def test_a_command_line_is_read_word_by_word(words: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert redact_arguments(words) == expected


@pytest.mark.guards("affidavit.attach.redact:redact_value", property="a named secret is hidden whole")
def test_a_named_value_is_hidden_whole() -> None:
    assert redact_value("HF_TOKEN", "any words at all") == HIDDEN
    assert redact_value("HF_TOKEN", "") == ""
    assert redact_value("HF_HOME", f"/x/{HF}/y") == f"/x/{HIDDEN}/y"


@pytest.mark.parametrize(
    "name", ["apiKey", "clientSecret", "HF_TOKEN", "wandb-key", "db_password", "pw", "AUTH_HEADER"]
)
def test_names_that_announce_a_secret(name: str) -> None:
    assert is_secret_name(name)


def test_redaction_takes_no_time_on_long_text() -> None:
    """Patterns that look back at every place would hold up a run whose log is long."""
    text = "a" * 200_000 + "=" + "b:c@" * 20_000 + "?" * 50_000
    begun = time.monotonic()
    redact(text)
    assert time.monotonic() - begun < 2
