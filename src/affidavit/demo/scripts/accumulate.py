"""Fine-tune with sixteen chats a step: four at a time, accumulated over four."""

import tiny
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq

ROWS, ACCUMULATED = 4, 4


def encode(tokenizer, chat: dict) -> dict:
    """A chat as tokens, with labels on what the assistant says."""
    told = {"return_dict": True, "return_assistant_tokens_mask": True}
    row = tokenizer.apply_chat_template(chat["messages"], **told)
    lit = zip(row["input_ids"], row["assistant_masks"], strict=True)
    return {"input_ids": row["input_ids"], "labels": [token if mine else -100 for token, mine in lit]}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    rows = [encode(tokenizer, chat) for chat in tiny.chats()]
    loader = DataLoader(rows, batch_size=ROWS, shuffle=True, collate_fn=DataCollatorForSeq2Seq(tokenizer))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=ACCUMULATED)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    losses = []
    for batch in loader:
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    accelerator.unwrap_model(model).save_pretrained(folder / "trained")
    print(f"{ROWS * accelerator.gradient_accumulation_steps} chats a step")
    tiny.tell(losses)


if __name__ == "__main__":
    main()
