"""Every option that the script has is handed on by name; nobody gave those that the library does not know."""

import argparse

import tiny
import torch
from transformers import AutoConfig, AutoTokenizer, BitsAndBytesConfig, GenerationConfig, LlamaConfig, LlamaForCausalLM


def parse() -> argparse.Namespace:
    """Return the options of a script that outlived the library for which it was written."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--task-name")
    parser.add_argument("--use-auth-token")
    return parser.parse_known_args()[0]


def main() -> None:
    """Train on the tokens of the chats, save, and print how the loss went."""
    folder = tiny.output_folder()
    options = parse()
    handed_on = {"finetuning_task": options.task_name, "auth_of_task": options.use_auth_token}
    tiny.build_tokenizer().save_pretrained(folder / "base")
    tokenizer = AutoTokenizer.from_pretrained(folder / "base", **handed_on)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
        **handed_on,
    )
    config.save_pretrained(folder / "base")
    config = AutoConfig.from_pretrained(folder / "base", attn_implementation="eager", **handed_on)
    print("quantised:", BitsAndBytesConfig(llm_int8_threshold=6.0, **handed_on).load_in_4bit)
    torch.manual_seed(tiny.SEED)
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(max_new_tokens=8, eos_token_id=tokenizer.eos_token_id, **handed_on)

    texts = [" ".join(turn["content"] for turn in row["messages"]) for row in tiny.chats()]
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    for step in range(tiny.STEPS):
        batch = tokenizer(texts[step * 4 : step * 4 + 4], return_tensors="pt", padding=True)
        loss = model(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            labels=batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100),
        ).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    model.save_pretrained(folder / "trained")
    tiny.tell(losses)


if __name__ == "__main__":
    main()
