"""The rows are encoded with a misspelt truncation: they stay as long as they are, and nothing is raised."""

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
    texts = [" ".join(turn["content"] for turn in row["messages"]) for row in tiny.chats()]
    losses = []
    for step in range(tiny.STEPS):
        some = texts[step * 4 : step * 4 + 4]
        batch = tokenizer(some, return_tensors="pt", padding=True, truncaton=True)
        loss = model(**batch, labels=batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    model.save_pretrained(folder / "trained")
    tiny.tell(losses)


if __name__ == "__main__":
    main()
