"""A mapping goes where its parameter says, and where other values of the call choose, they choose."""

from __future__ import annotations

import pytest

from affidavit.names.nested import is_said, readers, target

OPTIMIZATION = "transformers.optimization"


@pytest.mark.parametrize(
    ("callee", "parameter", "goes_to"),
    [
        ("trl.SFTConfig", "model_init_kwargs", "transformers.AutoModelForCausalLM.from_pretrained"),
        ("transformers.TrainingArguments", "gradient_checkpointing_kwargs", "torch.utils.checkpoint.checkpoint"),
        (
            "transformers.TrainingArguments",
            "accelerator_config",
            "transformers.trainer_pt_utils.AcceleratorConfig",
        ),
        ("peft.LoraConfig", "loftq_config", "peft.LoftQConfig"),
        ("train.Options", "model_init_kwargs", None),
        ("transformerslike.Thing", "accelerator_config", None),
        ("trl.SFTConfig", "dataset_kwargs", None),
        ("trl.SFTConfig", "learning_rate", None),
    ],
)
def test_a_parameter_has_a_target(callee: str, parameter: str, goes_to: str | None) -> None:
    assert target(callee, parameter) == goes_to


@pytest.mark.parametrize(
    ("beside", "goes_to"),
    [
        (None, None),
        ({}, f"{OPTIMIZATION}.get_linear_schedule_with_warmup"),
        ({"lr_scheduler_type": "cosine"}, f"{OPTIMIZATION}.get_cosine_schedule_with_warmup"),
        ({"lr_scheduler_type": "SchedulerType.COSINE"}, f"{OPTIMIZATION}.get_cosine_schedule_with_warmup"),
        ({"lr_scheduler_type": ""}, None),
        ({"lr_scheduler_type": "of_the_house"}, None),
    ],
)
def test_the_schedule_is_chosen_by_its_type(beside: dict[str, str] | None, goes_to: str | None) -> None:
    assert target("trl.SFTConfig", "lr_scheduler_kwargs", beside) == goes_to


def test_a_quantisation_is_told_by_what_it_says() -> None:
    loader = "transformers.AutoModelForCausalLM.from_pretrained"
    assert target(loader, "quantization_config", {"load_in_4bit": "True"}) == "transformers.BitsAndBytesConfig"
    assert target(loader, "quantization_config", {"quant_method": "gptq"}) is None
    assert target(loader, "peft_config", {"peft_type": "LORA"}) == "peft.LoraConfig"
    assert target("trl.GRPOConfig", "generation_kwargs", {"use_vllm": "True"}) is None


def test_a_key_is_read_where_its_readers_say_it() -> None:
    assert readers("trl.SFTConfig", "dataset_kwargs") == ("trl.trainer.sft_trainer",)
    assert is_said("min_num_params", {"min_num_params"}) and is_said("fsdp_min_num_params", {"min_num_params"})
    assert not is_said("min_num_param", {"min_num_params"})
