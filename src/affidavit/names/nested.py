"""Where a mapping goes that is given under one name: its keys are names of another callable, or of the code that reads.

A name inside such a mapping passes every check of the outer signature. What takes it is known here, by the parameter
that carries it; who judges asks the signature of that target, or what the readers' own code says.

Source: transformers 4.57.6 and 5.24.0, trl 0.24.0 and 1.16.0, peft 0.17.1 and 0.21.2, as installed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

ARGUMENTS = ("transformers", "trl")
LOADERS = ("transformers", "trl", "peft")


@dataclass(frozen=True, kw_only=True)
class Nest:
    """One parameter whose value is a mapping, in the callables of ``packages`` and in classes made from them.

    ``goes_to`` is the callable that takes the keys, dotted. ``readers`` are modules that read keys one by one: a key
    that stands in none of their string literals is read by nobody.
    """

    parameter: str
    packages: tuple[str, ...]
    goes_to: str = ""
    readers: tuple[str, ...] = ()


_MODEL = "transformers.AutoModelForCausalLM.from_pretrained"
_CHECKPOINT = "torch.utils.checkpoint.checkpoint"
_GENERATION = "transformers.GenerationConfig"
_FSDP = ("transformers.training_args", "transformers.trainer", "transformers.integrations.fsdp")

NESTS = (
    Nest(parameter="model_init_kwargs", packages=("trl",), goes_to=_MODEL),
    Nest(parameter="ref_model_init_kwargs", packages=("trl",), goes_to=_MODEL),
    Nest(parameter="teacher_model_init_kwargs", packages=("trl",), goes_to=_MODEL),
    Nest(parameter="model_kwargs", packages=("transformers.pipeline", "transformers.pipelines"), goes_to=_MODEL),
    Nest(parameter="gradient_checkpointing_kwargs", packages=LOADERS, goes_to=_CHECKPOINT),
    Nest(parameter="activation_checkpointing_kwargs", packages=LOADERS, goes_to=_CHECKPOINT),
    Nest(parameter="accelerator_config", packages=ARGUMENTS, goes_to="transformers.trainer_pt_utils.AcceleratorConfig"),
    Nest(parameter="generation_config", packages=ARGUMENTS, goes_to=_GENERATION),
    Nest(parameter="loftq_config", packages=("peft",), goes_to="peft.LoftQConfig"),
    Nest(parameter="dataset_kwargs", packages=("trl",), readers=("trl.trainer.sft_trainer",)),
    Nest(parameter="fsdp_config", packages=ARGUMENTS, readers=_FSDP),
)

_SCHEDULES = {
    "linear": "get_linear_schedule_with_warmup",
    "cosine": "get_cosine_schedule_with_warmup",
    "cosine_with_restarts": "get_cosine_with_hard_restarts_schedule_with_warmup",
    "polynomial": "get_polynomial_decay_schedule_with_warmup",
    "constant": "get_constant_schedule",
    "constant_with_warmup": "get_constant_schedule_with_warmup",
    "inverse_sqrt": "get_inverse_sqrt_schedule",
    "cosine_with_min_lr": "get_cosine_with_min_lr_schedule_with_warmup",
    "cosine_warmup_with_min_lr": "get_cosine_with_min_lr_schedule_with_warmup_lr_rate",
    "warmup_stable_decay": "get_wsd_schedule",
    "reduce_lr_on_plateau": "get_reduce_on_plateau_schedule",
    "greedy": "get_greedy_schedule",
}
"""``lr_scheduler_type`` to the function of ``transformers.optimization`` that takes ``lr_scheduler_kwargs``."""


def target(callee: str, parameter: str, beside: Mapping[str, str] | None = None) -> str | None:
    """Return the callable that takes the keys of a mapping given as ``parameter``; None where nobody can say.

    Args:
        callee: dotted, as it is imported or where it is defined; a first-party subclass by the base that was found.
        parameter: the name that the mapping is given under.
        beside: the values of all other names of the same call and of the mapping itself, unquoted, "" for one that is
            no literal: some of them choose the target. None where there may be more of them, from a mapping that is
            spread into the call; then nobody can say which was chosen.
    """
    choose = _CHOICES.get(parameter)
    if choose is not None:
        return choose(beside) if beside is not None and _is_of(callee, LOADERS) else None
    found = _nest(callee, parameter)
    return found.goes_to or None if found else None


def readers(callee: str, parameter: str) -> tuple[str, ...]:
    """Return the modules whose code reads the keys of a mapping given as ``parameter``, by name; () for none known.

    Blind to: a subclass that reads further keys.
    """
    found = _nest(callee, parameter)
    return found.readers if found else ()


def is_said(key: str, literals: Container[str]) -> bool:
    """Whether the readers' string literals hold a key; ``fsdp_config`` takes its keys with and without a prefix."""
    return key in literals or key.removeprefix("fsdp_") in literals


def _schedule(values: Mapping[str, str]) -> str | None:
    kind = values.get("lr_scheduler_type", "linear").rpartition(".")[2].lower()
    return f"transformers.optimization.{_SCHEDULES[kind]}" if kind in _SCHEDULES else None


def _quantization(values: Mapping[str, str]) -> str | None:
    is_bitsandbytes = values.get("quant_method", "").lower().startswith("bitsandbytes")
    is_asked = "load_in_4bit" in values or "load_in_8bit" in values
    return "transformers.BitsAndBytesConfig" if is_bitsandbytes or is_asked else None


def _adapter(values: Mapping[str, str]) -> str | None:
    return "peft.LoraConfig" if values.get("peft_type", "").rpartition(".")[2].upper() == "LORA" else None


def _generation(values: Mapping[str, str]) -> str | None:
    return None if values.get("use_vllm", "False") != "False" else _GENERATION


_CHOICES: Mapping[str, Callable[[Mapping[str, str]], str | None]] = {
    "lr_scheduler_kwargs": _schedule,
    "quantization_config": _quantization,
    "peft_config": _adapter,
    "generation_kwargs": _generation,
}
"""Parameters whose target other values choose."""


def _nest(callee: str, parameter: str) -> Nest | None:
    return next((one for one in NESTS if one.parameter == parameter and _is_of(callee, one.packages)), None)


def _is_of(callee: str, packages: tuple[str, ...]) -> bool:
    return any(callee == package or callee.startswith(package + ".") for package in packages)
