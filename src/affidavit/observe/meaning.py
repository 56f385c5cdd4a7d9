"""Which of our terms a foreign value means: the one table of other people's names.

A name means a term only in a file in which it means that: ``max_length`` of a generation is no length of training.

Source: transformers 5.24 TrainingArguments and its model cards, PEFT LoraConfig, axolotl and torchtune configs.
Blind to: a name that somebody uses for something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from affidavit.fact.values import Layers, Value
from affidavit.observe.foreign import CARD, Foreign
from affidavit.observe.notation import Said, number

_OPTIMIZERS = {"adamw": "AdamW", "adam": "Adam", "sgd": "SGD", "adafactor": "transformers.Adafactor", "lion": "Lion"}
_NOT_OF_A_TRAINING = ("generation_config.json", "tokenizer_config.json")


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A value of one of our terms, as a file states it; ``asked`` where it was only asked for."""

    term: str
    value: Value
    source: str
    asked: bool = False


def declared(foreign: Foreign) -> tuple[tuple[Declared, ...], tuple[str, ...]]:
    """Return the values that mean one of our terms, the first word of each, and a note for each other word."""
    found: dict[str, Declared] = {}
    notes: list[str] = []
    for said in foreign.values:
        for one in _meant(said):
            first = found.setdefault(one.term, one)
            if first.value != one.value:
                notes.append(f"{one.term}: {first.value} ({first.source}), and {one.value} ({one.source})")
    if (settings := _adapter_settings(foreign)) is not None:
        found[settings.term] = settings
    return tuple(found.values()), tuple(notes)


def _meant(said: Said) -> tuple[Declared, ...]:
    if said.file in _NOT_OF_A_TRAINING or any(key.isdecimal() for key in said.keys):
        return ()
    meaning = _MEANINGS.get(_name(said))
    if meaning is None or (meaning.files and said.file not in meaning.files and said.file in _CONFIGS):
        return ()
    value = meaning.read(said.value)
    if value is None:
        return ()
    return (Declared(term=meaning.term, value=value, source=said.place, asked=meaning.asked),)


def _name(said: Said) -> str:
    return re.sub(r"[\s-]+", "_", said.keys[-1].strip().lower()).lstrip("_") if said.keys else ""


@dataclass(frozen=True, kw_only=True)
class _Meaning:
    """What a name means; ``files`` are the configs in which it does, all where none is named."""

    term: str
    read: Callable[[object], Value | None]
    files: tuple[str, ...] = ()
    asked: bool = False


_CONFIGS = ("config.json", "adapter_config.json", "trainer_state.json")


def _whole(value: object) -> int | None:
    found = number(value)
    return int(found) if found is not None and found == int(found) and 0 <= found < 2**53 else None


def _positive(value: object) -> int | None:
    return _whole(value) or None


def _word(value: object) -> str | None:
    return value.strip() if isinstance(value, str) and 0 < len(value.strip()) <= 80 else None


def _optimizer(value: object) -> str | None:
    """Return the class that a name stands for; a card writes a sentence around it."""
    text = _word(value) or (value[:80] if isinstance(value, str) else "")
    if not text:
        return None
    named = re.search(r"(?:OptimizerNames\.)?([A-Za-z]+)(?:_(?:torch|hf|apex|anyprecision|fused))*", text)
    kind = named[1] if named and named[1].lower() != "use" else ""
    if text.startswith("Use ") and (inside := re.search(r"Use (?:OptimizerNames\.)?([A-Za-z]+)", text)):
        kind = inside[1]
    if "8bit" in text.lower() or "paged" in text.lower():
        return text
    return _OPTIMIZERS.get(kind.lower(), text)


def _schedule(value: object) -> str | None:
    text = _word(value)
    return text.rpartition(".")[2].lower() if text else None


def _types(value: object) -> tuple[str, ...] | None:
    text = _word(value)
    return (text.removeprefix("torch."),) if text and text != "auto" else None


def _names(value: object) -> tuple[str, ...] | None:
    if isinstance(value, str) and value:
        return (value,)
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return tuple(sorted(map(str, value)))
    return None


def _lower(value: object) -> str | None:
    text = _word(value)
    return text.lower() if text else None


def _on(value: object) -> str | None:
    return ("on" if value else "off") if isinstance(value, bool) else None


def _if_true(word: str) -> Callable[[object], str | None]:
    return lambda value: word if value is True else None


def _mixed(value: object) -> str | None:
    text = _lower(value)
    return "fp16" if text == "native amp" else text


_MEANINGS: Mapping[str, _Meaning] = {
    name: meaning
    for names, meaning in (
        (
            ("learning_rate", "lr", "peak_lr", "max_learning_rate"),
            _Meaning(term="optimizer.learning_rate", read=number),
        ),
        (("weight_decay", "wd"), _Meaning(term="optimizer.weight_decay", read=number)),
        (("optim", "optimizer", "optimizer_name"), _Meaning(term="optimizer.kind", read=_optimizer)),
        (
            ("lr_scheduler_type", "lr_scheduler", "scheduler", "lr_schedule"),
            _Meaning(term="schedule.kind", read=_schedule),
        ),
        (("warmup_steps", "lr_scheduler_warmup_steps"), _Meaning(term="schedule.warmup_steps", read=_whole)),
        (
            ("per_device_train_batch_size", "train_batch_size", "micro_batch_size", "batch_size"),
            _Meaning(term="batch.rows", read=_positive),
        ),
        (("gradient_accumulation_steps", "grad_accum"), _Meaning(term="batch.accumulation", read=_positive)),
        (
            ("total_train_batch_size", "effective_batch_size", "global_batch_size"),
            _Meaning(term="batch.effective", read=_positive),
        ),
        (
            ("max_length", "max_seq_length", "max_seq_len", "sequence_len", "cutoff_len"),
            _Meaning(term="batch.longest", read=_positive, files=(CARD,), asked=True),
        ),
        (("max_steps", "training_steps", "total_steps"), _Meaning(term="loop.planned_steps", read=_positive)),
        (
            ("num_train_epochs", "num_epochs", "epochs"),
            _Meaning(term="loop.epochs", read=number, files=(CARD,)),  # a trainer's state rounds them up
        ),
        (("global_step",), _Meaning(term="loop.steps", read=_whole)),
        (("seed",), _Meaning(term="determinism.seed", read=_whole)),
        (("torch_dtype", "dtype"), _Meaning(term="precision.weight_types", read=_types)),
        (("mixed_precision", "mixed_precision_training"), _Meaning(term="precision.requested", read=_mixed)),
        (("bf16",), _Meaning(term="precision.requested", read=_if_true("bf16"))),
        (("fp16",), _Meaning(term="precision.requested", read=_if_true("fp16"))),
        (
            ("attn_implementation", "attention_implementation"),
            _Meaning(term="attention.requested", read=_word),
        ),
        (("flash_attention",), _Meaning(term="attention.requested", read=_if_true("flash_attention_2"))),
        (("peft_type", "adapter"), _Meaning(term="adapter.kind", read=_lower)),
        (("target_modules", "lora_target_modules"), _Meaning(term="adapter.targets", read=_names)),
        (("gradient_checkpointing",), _Meaning(term="model.checkpointing", read=_on)),
    )
    for name in names
}


def _adapter_settings(foreign: Foreign) -> Declared | None:
    """Return rank, scale and dropout under each asked target, worded as those of a live adapter are."""
    for file in dict.fromkeys(one.file for one in foreign.values):
        own = {_name(one): one for one in foreign.values if one.file == file and len(one.keys) <= 2}
        rank, alpha = (_of(own, key, f"lora_{key.removeprefix('lora_')}") for key in ("r", "lora_alpha"))
        targets = next(
            (_names(own[key].value) for key in ("target_modules", "lora_target_modules") if key in own), None
        )
        if not rank or alpha is None or not targets:
            continue
        divisor = rank**0.5 if getattr(own.get("use_rslora"), "value", False) is True else rank
        dropout = _of(own, "lora_dropout", "lora_dropout") or 0.0
        worded = f"rank {rank:g}, scale {alpha / divisor:g}, dropout {dropout:g}"
        source = f"{file}: r, lora_alpha, lora_dropout"
        return Declared(term="adapter.settings", value=Layers.of(dict.fromkeys(targets, worded)), source=source)
    return None


def _of(own: Mapping[str, Said], *names: str) -> float | None:
    return next((number(own[name].value) for name in names if name in own), None)
