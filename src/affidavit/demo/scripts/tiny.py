"""A Gemma-4 small enough to train in a second, with its tokenizer and its chats: all made here, none fetched.

`write_base` leaves a folder like one from the hub; the scripts beside this file load it the way they would
load the real thing, so that names such as `attn_implementation=` go where they always go.
Under transformers 4, which has no Gemma 4, it is a Gemma 3 of the same size.
"""

import os
import random
import sys
import tempfile
from pathlib import Path

# Nothing here is on the hub. Without these a look-up would wait for a network that is not needed.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedModel, PreTrainedTokenizerFast

SEED = 20
LAYERS = 4
STEPS = 6

# What transformers 5 brought, and what it renamed.
if int(transformers.__version__.partition(".")[0]) >= 5:
    FAMILY, OWN_SIZES = "Gemma4", {"global_head_dim": 32, "hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0}
    SPECIAL_TOKENS, CHECKPOINTING = "extra_special_tokens", "activation_checkpointing"
    BY_LENGTH = {"train_sampling_strategy": "group_by_length"}
else:
    FAMILY, OWN_SIZES = "Gemma3", {}
    SPECIAL_TOKENS, CHECKPOINTING = "additional_special_tokens", "gradient_checkpointing"
    BY_LENGTH = {"group_by_length": True}

# Every linear layer of the attention block; q_norm, k_norm and the MLP stay as they are.
ATTENTION_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj")

# Gemma's own spelling: the assistant's turn is headed "model", and every turn ends in <turn|>.
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}"
    "{{ '<|turn>' + role + '\n' + message['content'] + '<turn|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|turn>model\n' }}{% endif %}"
)

# The same text, character for character; the assistant's words and its <turn|> are marked for the loss.
TRAINING_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'assistant' %}"
    "{{ '<|turn>model\n' }}{% generation %}{{ message['content'] + '<turn|>' }}{% endgeneration %}{{ '\n' }}"
    "{% else %}{{ '<|turn>' + message['role'] + '\n' + message['content'] + '<turn|>' + '\n' }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|turn>model\n' }}{% endif %}"
)

_THINGS = ("sea", "hill", "moon", "fox", "barn", "road", "coat", "leaf", "stone", "bell")
_COLOURS = ("blue", "green", "white", "red", "brown", "grey", "black", "golden")
_PLACES = ("harbour", "garden", "village", "forest", "market", "valley")


def chats(count: int = 64) -> list[dict]:
    """Two-turn and four-turn chats about coloured things; the same ones on every call."""
    choose = random.Random(SEED).choice
    rows = []
    for number in range(count):
        thing, colour, place = choose(_THINGS), choose(_COLOURS), choose(_PLACES)
        turns = [
            f"What colour is the {thing} near the {place}?",
            f"The {thing} near the {place} is {colour}.",
        ]
        # Ragged rows: a mask that forgets padding shows only when there is some.
        if number % 3 == 0:
            turns += ["Are you sure?", f"Yes, it is {colour}."]
        roles = ("user", "assistant") * 2
        messages = [{"role": role, "content": turn} for role, turn in zip(roles, turns, strict=False)]
        rows.append({"messages": messages})
    return rows


def build_tokenizer(template: str = TRAINING_TEMPLATE) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer trained on the chats, in memory."""
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<|turn>", "<turn|>"]
    core = Tokenizer(models.BPE(unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    lines = (message["content"] for row in chats() for message in row["messages"])
    core.train_from_iterator([*lines, "user\n", "model\n"], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token="<bos>",
        eos_token="<turn|>",
        pad_token="<pad>",
        unk_token="<unk>",
        **{SPECIAL_TOKENS: ["<|turn>"]},
    )
    tokenizer.chat_template = template
    return tokenizer


def build_model(tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    """Four layers, sliding and full attention in turn as in the large ones, seeded."""
    config = getattr(transformers, f"{FAMILY}TextConfig")(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        sliding_window=16,
        max_position_embeddings=256,
        layer_types=["sliding_attention", "full_attention"] * (LAYERS // 2),
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
        **OWN_SIZES,
    )
    torch.manual_seed(SEED)
    return getattr(transformers, f"{FAMILY}ForCausalLM")(config)


def write_base(folder: Path, template: str = TRAINING_TEMPLATE) -> Path:
    """Write config, weights and tokenizer under `folder`, as a download from the hub would lie there."""
    base = folder / "base"
    tokenizer = build_tokenizer(template)
    tokenizer.save_pretrained(base)
    build_model(tokenizer).save_pretrained(base)
    return base


def output_folder() -> Path:
    """The first argument, else $OUT, else a new temporary folder: the only place a script writes to."""
    named = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("OUT")
    folder = Path(named) if named else Path(tempfile.mkdtemp(prefix="tiny-"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def training_settings(folder: Path) -> dict:
    """What every script asks of SFTConfig, whatever else it asks.

    bf16 and checkpointing are on by default in TRL; both are said here, so that no script depends on that.
    """
    return {
        "output_dir": str(folder / "trained"),
        "max_steps": STEPS,
        "per_device_train_batch_size": 4,
        "learning_rate": 5e-3,
        "lr_scheduler_type": "constant",
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "max_length": 128,
        "seed": SEED,
        "use_cpu": True,
        "bf16": False,
        CHECKPOINTING: False,
    }


def labels_of(row: dict) -> list[int]:
    """The labels of a row that TRL prepared; before 1.0 it marks the assistant's words, and labels them later."""
    if "labels" in row:
        return row["labels"]
    return [token if lit else -100 for token, lit in zip(row["input_ids"], row["assistant_masks"], strict=True)]


def chat_trainer(folder: Path, base: Path, *, settings: dict | None = None, **given):
    """An SFTTrainer on the assistant's turns of the chats, but for what a script brings itself."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import SFTConfig, SFTTrainer

    if "model" not in given:
        given["model"] = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    given.setdefault("processing_class", AutoTokenizer.from_pretrained(base))
    arguments = SFTConfig(assistant_only_loss=True, **(training_settings(folder) | (settings or {})))
    rows = Dataset.from_list(given.pop("rows", None) or chats())
    return SFTTrainer(train_dataset=rows, args=arguments, **given)


def plain_settings(folder: Path) -> dict:
    """The same for TrainingArguments, which knows no limit of length."""
    return {name: value for name, value in training_settings(folder).items() if name != "max_length"}


def finish(trainer) -> None:
    """Save what a user saves, and say how the loss went."""
    trainer.save_model()
    trainer.save_state()
    tell([entry["loss"] for entry in trainer.state.log_history if "loss" in entry])


def tell(losses: list[float]) -> None:
    """Say how the loss went, a loss a step."""
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")
