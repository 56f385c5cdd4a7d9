"""A chat model in a loop that Accelerate prepares: two batches a step, a schedule, bf16 that was asked for."""

import tiny
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, get_linear_schedule_with_warmup

STEPS = 8
ACCUMULATED = 2


def main():
    """Train for eight optimizer steps."""
    torch.manual_seed(tiny.SEED)
    base = tiny.write_base(tiny.output_folder())
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa", dtype=torch.float32)
    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=ACCUMULATED, cpu=True)
    rows = [
        tokenizer.apply_chat_template(row["messages"], return_dict=True, return_assistant_tokens_mask=True)
        for row in tiny.chats()
    ]

    def collate(picked):
        batch = tokenizer.pad([{"input_ids": row["input_ids"]} for row in picked], return_tensors="pt")
        labels = torch.full_like(batch["input_ids"], -100)
        for place, row in enumerate(picked):
            mask = torch.tensor(row["assistant_masks"], dtype=torch.bool)
            labels[place, : len(mask)][mask] = torch.tensor(row["input_ids"])[mask]
        return {**batch, "labels": labels}

    loader = DataLoader(rows, batch_size=4, shuffle=True, collate_fn=collate)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = get_linear_schedule_with_warmup(optimizer, 2, STEPS)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    model.train()
    total = 0.0
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            accelerator.backward(loss)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        total += loss.item()
    print(f"loss {total / len(loader):.3f}")


if __name__ == "__main__":
    main()
