"""Names of ``from_pretrained`` that are gone. Most are swallowed there, so nothing else would say a word."""

from __future__ import annotations

from affidavit.names.history.row import LOADERS, MODELS, Gone

ROWS = (
    Gone(
        MODELS,
        "torch_dtype",
        "transformers",
        "",
        "dtype",
        "transformers 5.24.0, modeling_utils, which still takes both",
    ),
    Gone(
        MODELS,
        "use_flash_attention_2",
        "transformers",
        "4.53.0",
        'attn_implementation="flash_attention_2"',
        "transformers 4.46.3 and 4.53.0, modeling_utils",
    ),
    Gone(
        MODELS,
        "load_in_4bit",
        "transformers",
        "5.0.0",
        "quantization_config=BitsAndBytesConfig(load_in_4bit=True)",
        "transformers 4.57.6 and 5.0.0, modeling_utils",
    ),
    Gone(
        MODELS,
        "load_in_8bit",
        "transformers",
        "5.0.0",
        "quantization_config=BitsAndBytesConfig(load_in_8bit=True)",
        "transformers 4.57.6 and 5.0.0, modeling_utils",
    ),
    Gone(
        MODELS,
        "llm_int8_threshold",
        "transformers",
        "",
        "quantization_config=BitsAndBytesConfig(llm_int8_threshold=...)",
        "transformers 4.57.6 and 5.24.0, utils/quantization_config",
    ),
    Gone(
        MODELS,
        "llm_int8_skip_modules",
        "transformers",
        "",
        "quantization_config=BitsAndBytesConfig(llm_int8_skip_modules=...)",
        "transformers 4.57.6 and 5.24.0, utils/quantization_config",
    ),
    Gone(
        MODELS,
        "llm_int8_enable_fp32_cpu_offload",
        "transformers",
        "",
        "quantization_config=BitsAndBytesConfig(llm_int8_enable_fp32_cpu_offload=...)",
        "transformers 4.57.6 and 5.24.0, utils/quantization_config",
    ),
    Gone(
        MODELS,
        "bnb_4bit_compute_dtype",
        "transformers",
        "",
        "quantization_config=BitsAndBytesConfig(bnb_4bit_compute_dtype=...)",
        "transformers 4.57.6 and 5.24.0, utils/quantization_config",
    ),
    Gone(
        MODELS,
        "bnb_4bit_quant_type",
        "transformers",
        "",
        "quantization_config=BitsAndBytesConfig(bnb_4bit_quant_type=...)",
        "transformers 4.57.6 and 5.24.0, utils/quantization_config",
    ),
    Gone(
        MODELS,
        "bnb_4bit_use_double_quant",
        "transformers",
        "",
        "quantization_config=BitsAndBytesConfig(bnb_4bit_use_double_quant=...)",
        "transformers 4.57.6 and 5.24.0, utils/quantization_config",
    ),
    Gone(
        MODELS,
        "gradient_checkpointing",
        "transformers",
        "",
        "gradient_checkpointing of the training arguments, or model.gradient_checkpointing_enable()",
        "transformers 4.57.6 and 5.24.0, modeling_utils",
    ),
    Gone(LOADERS, "use_auth_token", "transformers", "5.0.0", "token", "transformers 4.57.6 and 5.0.0, modeling_utils"),
    Gone(LOADERS, "resume_download", "transformers", "5.0.0", "", "transformers 4.57.6 and 5.0.0, modeling_utils"),
)
