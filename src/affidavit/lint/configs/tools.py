"""What tools take from a config file of theirs, by the installed classes that read it."""

from __future__ import annotations

_SHARED = ("trl.ScriptArguments", "trl.ModelConfig", "trl.DatasetMixtureConfig")
TRL_COMMANDS = {
    "sft": ("trl.SFTConfig", *_SHARED),
    "dpo": ("trl.DPOConfig", *_SHARED),
    "grpo": ("trl.GRPOConfig", "trl.scripts.grpo.GRPOScriptArguments", *_SHARED),
    "rloo": ("trl.RLOOConfig", "trl.scripts.rloo.RLOOScriptArguments", *_SHARED),
    "kto": ("trl.KTOConfig", *_SHARED),
    "reward": ("trl.RewardConfig", *_SHARED),
    "distillation": ("trl.DistillationConfig", *_SHARED),
}
"""The dataclasses that each command of the ``trl`` program fills. Source: trl 1.16 scripts, ``make_parser``."""

ARGUMENT_CLASSES = (
    "transformers.TrainingArguments",
    "transformers.Seq2SeqTrainingArguments",
    *dict.fromkeys(callee for callees in TRL_COMMANDS.values() for callee in callees),
)
"""Every class that a file of training arguments may be written for."""

MIXTURE = "trl.DatasetMixtureConfig"
MIXTURE_ROW = "trl.scripts.utils.DatasetConfig"
"""What takes each row of ``datasets:``. Source: trl 1.16 ``DatasetMixtureConfig.__post_init__``."""

CLUSTER = "accelerate.commands.config.config_args.ClusterConfig"
SAGEMAKER = "accelerate.commands.config.config_args.SageMakerConfig"
CLUSTER_CONVERTED = frozenset({"fp16", "dynamo_backend"})
"""Older names that ``process_config`` turns into today's. Source: accelerate 1.15."""

LLAMA_FACTORY_CLASSES = (
    "llamafactory.hparams.model_args.ModelArguments",
    "llamafactory.hparams.data_args.DataArguments",
    "llamafactory.hparams.training_args.TrainingArguments",
    "llamafactory.hparams.finetuning_args.FinetuningArguments",
    "llamafactory.hparams.generating_args.GeneratingArguments",
)
"""Source: llamafactory 0.9.5 hparams.parser, ``_TRAIN_ARGS``; its reader raises on any other key."""

AXOLOTL_CLASS = "axolotl.utils.schemas.config.AxolotlInputConfig"

ZERO_CLASS = "deepspeed.runtime.zero.config.DeepSpeedZeroConfig"
"""It forbids other keys. Source: deepspeed 0.19 runtime.config_utils, ``extra="forbid"``."""
SCHEDULES_MODULE = "deepspeed.runtime.lr_schedules"
SCHEDULES = frozenset({"LRRangeTest", "OneCycle", "WarmupLR", "WarmupDecayLR", "WarmupCosineLR"})

ACCELERATE_OPTIONS = frozenset(
    [
        "accelerate_config",
        "config",
        "config_file",
        "quiet",
        "cpu",
        "multi_gpu",
        "tpu",
        "use_mps_device",
        "mixed_precision",
        "num_processes",
        "num_machines",
        "num_cpu_threads_per_process",
        "enable_cpu_affinity",
        "dynamo_backend",
        "dynamo_mode",
        "dynamo_use_fullgraph",
        "dynamo_use_dynamic",
        "dynamo_use_regional_compilation",
        "use_deepspeed",
        "use_fsdp",
        "use_parallelism_config",
        "use_megatron_lm",
        "use_xpu",
        "ipex",
        "gpu_ids",
        "same_network",
        "machine_rank",
        "main_process_ip",
        "main_process_port",
        "tee",
        "log_dir",
        "role",
        "rdzv_backend",
        "rdzv_conf",
        "max_restarts",
        "monitor_interval",
        "module",
        "no_python",
        "tpu_cluster",
        "no_tpu_cluster",
        "tpu_use_sudo",
        "tpu_use_cluster",
        "vm",
        "env",
        "main_training_function",
        "downcast_bf16",
        "deepspeed_config_file",
        "zero_stage",
        "offload_optimizer_device",
        "offload_param_device",
        "offload_optimizer_nvme_path",
        "offload_param_nvme_path",
        "gradient_accumulation_steps",
        "gradient_clipping",
        "zero3_init_flag",
        "zero3_save_16bit_model",
        "deepspeed_hostfile",
        "deepspeed_exclusion_filter",
        "deepspeed_inclusion_filter",
        "deepspeed_multinode_launcher",
        "deepspeed_moe_layer_cls_names",
        "mpirun_hostfile",
        "mpirun_ccl",
        "aws_access_key_id",
        "aws_secret_access_key",
        "debug",
    ]
)
"""Options of ``accelerate launch``: what ``trl`` does not take from a file or a command line it hands on to that.

Source: accelerate 1.15 commands.launch; older ones are kept, a name too many only costs a doubt.
"""
ACCELERATE_FAMILIES = ("fsdp_", "fp8_", "megatron_lm_", "parallelism_config_", "deepspeed_", "dynamo_")
"""Beginnings that whole families of its options share; what begins so is not held against any list."""


def is_accelerates(name: str) -> bool:
    """Whether ``accelerate launch`` takes an option; it allows no abbreviation."""
    return name.startswith(ACCELERATE_FAMILIES) or name in ACCELERATE_OPTIONS
