"""Trains chats whose turns end in a token at which generation stops as well."""

import tiny
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig


def main() -> None:
    """Train in a loop of its own, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    # The base model ends a document; its chats end a turn, with the token that the tokenizer calls its end.
    ends = [tokenizer.convert_tokens_to_ids("<eos>"), tokenizer.eos_token_id]
    model.generation_config = GenerationConfig(eos_token_id=ends)
    told = {"return_dict": True, "return_assistant_tokens_mask": True, "return_tensors": "pt"}
    cut = {"max_length": 48, "padding": "max_length", "truncation": True}
    rows = tokenizer.apply_chat_template([row["messages"] for row in tiny.chats()], **told, **cut)
    labels = rows["input_ids"].masked_fill(rows["assistant_masks"] == 0, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    parts = [part.split(8) for part in (rows["input_ids"], rows["attention_mask"], labels)]
    for ids, mask, targets in zip(*parts, strict=True):
        loss = model(input_ids=ids, attention_mask=mask, labels=targets).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    model.save_pretrained(folder / "trained")
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} steps")


if __name__ == "__main__":
    main()
