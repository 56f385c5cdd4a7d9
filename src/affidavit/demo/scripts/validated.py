"""Fine-tune LoRA with a dropout of 0.1, and validate every three steps."""

import tiny
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

STEPS, BETWEEN = 12, 3


def batches(base, size: int = 4):
    """Chats as tensors, with labels on what the assistant says."""
    told = {"return_dict": True, "return_assistant_tokens_mask": True, "return_tensors": "pt", "padding": True}
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = tokenizer.apply_chat_template([chat["messages"] for chat in tiny.chats()], **told)
    labels = rows["input_ids"].masked_fill(rows["assistant_masks"] == 0, -100)
    parts = (part.split(size) for part in (rows["input_ids"], rows["attention_mask"], labels))
    names = ("input_ids", "attention_mask", "labels")
    return [dict(zip(names, part, strict=True)) for part in zip(*parts, strict=True)]


@torch.no_grad()
def validate(model, batch) -> float:
    """The loss on what was not trained on."""
    model.eval()
    return model(**batch).loss.item()


def main() -> None:
    """Train, save the adapter, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    *train, held_out = batches(base)
    targets = list(tiny.ATTENTION_PROJECTIONS)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=8, lora_dropout=0.1, target_modules=targets))
    optimizer = torch.optim.AdamW((one for one in model.parameters() if one.requires_grad), lr=5e-3)

    model.train()
    losses = []
    for step, batch in enumerate(train[:STEPS]):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if step % BETWEEN == 0:
            print(f"step {step}: validation {validate(model, held_out):.3f}")
    model.save_pretrained(folder / "trained")
    tiny.tell(losses)


if __name__ == "__main__":
    main()
