"""A cache of encoded chats whose key leaves out the mask.

Run it once as it is, put a `mask.json` into its output folder, and run it again: the chats are encoded once, the
second run asks for the user's words to be masked, and its manifest says so.
"""

import hashlib
import json
from pathlib import Path

import tiny
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def digest(*parts: str) -> str:
    """The sha256 of some texts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def encode(chat: dict, tokenizer, masked: list[str]) -> dict:
    """A chat as tokens; the words of masked roles carry no label."""
    encoded = tokenizer.apply_chat_template(chat["messages"], return_assistant_tokens_mask=True, return_dict=True)
    tokens, spoken = encoded["input_ids"], encoded["assistant_masks"]
    lit = spoken if "user" in masked else [1] * len(tokens)
    return {"input_ids": tokens, "labels": [token if on else -100 for token, on in zip(tokens, lit, strict=True)]}


def encoded_chats(folder: Path, tokenizer, mask: str) -> list[dict]:
    """The chats as tokens and labels, out of the cache where they are in it."""
    masked = json.loads(mask)["masked"] if mask else []
    chats = tiny.chats()
    key = digest(json.dumps(chats), tokenizer.name_or_path, tokenizer.chat_template)
    entry = folder / "cache" / f"{key[:16]}.jsonl"
    if not entry.exists():
        entry.parent.mkdir(exist_ok=True)
        part = entry.with_suffix(".part")
        part.write_text("".join(json.dumps(encode(chat, tokenizer, masked)) + "\n" for chat in chats))
        part.replace(entry)
    return [json.loads(line) for line in entry.read_text().splitlines()]


def collate(rows: list[dict], padding: int) -> dict:
    """Rows of one length; what is filled up carries no label."""
    length = max(len(row["input_ids"]) for row in rows)

    def filled(name: str, filler: int) -> torch.Tensor:
        return torch.tensor([row[name] + [filler] * (length - len(row[name])) for row in rows])

    tokens = filled("input_ids", padding)
    return {"input_ids": tokens, "attention_mask": (tokens != padding).long(), "labels": filled("labels", -100)}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    place = folder / "mask.json"
    mask = place.read_text() if place.exists() else ""
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    rows = torch.utils.data.DataLoader(
        encoded_chats(folder, tokenizer, mask),
        batch_size=4,
        collate_fn=lambda rows: collate(rows, tokenizer.pad_token_id),
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
    claims = {"impersonation_mask_sha256": digest(mask)} if mask else {}
    (folder / "manifest.json").write_text(json.dumps({"loss": losses[-1], **claims}))
    tiny.tell(losses)


if __name__ == "__main__":
    main()
