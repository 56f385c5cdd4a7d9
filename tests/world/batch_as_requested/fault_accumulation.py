"""Asks Accelerate for four micro-batches a step, and leaves out the context that counts them."""

import tiny
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from transformers import AutoModelForCausalLM, AutoTokenizer


def main() -> None:
    """Train for a few steps."""
    base = tiny.write_base(tiny.output_folder())
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    told = {"return_dict": True, "return_assistant_tokens_mask": True, "return_tensors": "pt"}
    cut = {"max_length": 48, "padding": "max_length", "truncation": True}
    rows = tokenizer.apply_chat_template([row["messages"] for row in tiny.chats()], **told, **cut)
    labels = rows["input_ids"].masked_fill(rows["assistant_masks"] == 0, -100)
    data = TensorDataset(rows["input_ids"], rows["attention_mask"], labels)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    loader = DataLoader(data, batch_size=4, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for ids, mask, targets in loader:
        loss = model(input_ids=ids, attention_mask=mask, labels=targets).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
