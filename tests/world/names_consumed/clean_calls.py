"""A plain loop: its names are read; enable_thinking goes to every template, and this one has no use for it."""

import tiny
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    model.train()
    for step in range(tiny.STEPS):
        batch = tokenizer.apply_chat_template(
            [row["messages"] for row in tiny.chats()[step * 4 : step * 4 + 4]],
            return_assistant_tokens_mask=True,
            return_dict=True,
            return_tensors="pt",
            padding=True,
            enable_thinking=False,
        )
        mask = batch["attention_mask"]
        labels = batch["input_ids"].masked_fill(torch.as_tensor(batch["assistant_masks"]) == 0, -100)
        loss = model(input_ids=batch["input_ids"], attention_mask=mask, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    model.save_pretrained(folder / "trained")
    tiny.tell(losses)


if __name__ == "__main__":
    main()
