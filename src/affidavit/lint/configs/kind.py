"""What a config is, said by its own keys, and only where they leave no doubt."""

from __future__ import annotations

from affidavit.lint.configs.document import Document

ACCELERATE = "accelerate"
AXOLOTL = "axolotl"
DEEPSPEED = "deepspeed"
LLAMA_FACTORY = "llamafactory"
ARGUMENTS = "arguments"
"""A file of training arguments: its keys are fields of ``TrainingArguments`` and of what TRL makes of it."""

_CORE = frozenset(
    {
        *("learning_rate", "num_train_epochs", "max_steps", "warmup_steps", "warmup_ratio", "weight_decay"),
        *("per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps"),
        *("gradient_checkpointing", "gradient_checkpointing_kwargs", "lr_scheduler_type", "lr_scheduler_kwargs"),
        *("logging_steps", "logging_strategy", "save_steps", "save_strategy", "save_total_limit", "eval_steps"),
        *("eval_strategy", "evaluation_strategy", "output_dir", "overwrite_output_dir", "report_to", "bf16", "fp16"),
        *("tf32", "seed", "optim", "max_grad_norm", "push_to_hub", "hub_model_id", "do_train", "do_eval", "run_name"),
        *("dataset_name", "dataset_config", "model_name_or_path", "max_length", "max_seq_length", "packing"),
        *("use_peft", "lora_r", "lora_alpha", "lora_target_modules", "attn_implementation", "torch_dtype", "dtype"),
        *("load_in_4bit", "load_in_8bit", "remove_unused_columns", "ddp_timeout", "log_level", "dataset_num_proc"),
        *("beta", "max_prompt_length", "max_completion_length", "num_generations", "use_vllm", "trust_remote_code"),
    }
)
LEAST = 3
SHARE = 0.6


def kind_of(document: Document) -> str:
    """Return which tool a config is written for, "" where its keys do not say.

    Source: the readers of accelerate 1.15, deepspeed 0.19, axolotl 0.19, llamafactory 0.9.5, trl 1.16.
    """
    names = set(document.names)
    if "distributed_type" in names and names & {"compute_environment", "num_machines", "machine_rank"}:
        return ACCELERATE
    if _is_mapping(document, "zero_optimization") or (
        "train_micro_batch_size_per_gpu" in names
        and any(_is_mapping(document, name) for name in ("fp16", "bf16", "optimizer", "scheduler"))
    ):
        return DEEPSPEED
    if "base_model" in names and names & {"sequence_len", "micro_batch_size", "datasets", "adapter", "rl"}:
        return AXOLOTL
    if "finetuning_type" in names or {"model_name_or_path", "stage", "template"} <= names:
        return LLAMA_FACTORY
    core = names & _CORE
    return ARGUMENTS if len(core) >= LEAST and len(core) >= SHARE / 2 * len(names) else ""


def is_like(names: set[str], known: frozenset[str]) -> bool:
    """Whether the keys of a file are mostly names of one reader: at least three, and at least 60 in 100."""
    shared = len(names & known)
    return shared >= LEAST and shared >= SHARE * len(names)


def _is_mapping(document: Document, name: str) -> bool:
    entry = document.get(name)
    return entry is not None and entry.tag == "map"
