"""A loop without a Trainer: asks for the fused kernel and runs it."""

import tiny
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def collate(rows: list[dict], tokenizer) -> dict:
    """Encode chats, pad them, and supervise the assistant only."""
    encoded = tokenizer.apply_chat_template(
        [row["messages"] for row in rows],
        return_assistant_tokens_mask=True,
        return_dict=True,
        return_tensors="pt",
        padding=True,
    )
    lit = torch.as_tensor(encoded.pop("assistant_masks")).bool()
    return {**encoded, "labels": encoded["input_ids"].masked_fill(~lit, -100)}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")

    rows = torch.utils.data.DataLoader(
        tiny.chats(),
        batch_size=4,
        shuffle=True,
        generator=torch.Generator().manual_seed(tiny.SEED),
        collate_fn=lambda rows: collate(rows, tokenizer),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    model.train()
    for batch, _ in zip(rows, range(tiny.STEPS), strict=False):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())

    model.save_pretrained(folder / "trained")
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")


if __name__ == "__main__":
    main()
