"""Trains a model as its loader returned it: in evaluation mode, so the dropout of its config never happens."""

import tiny
import torch
from transformers import BertConfig, BertForMaskedLM

STEPS = 8


def main() -> None:
    """Train for eight steps."""
    torch.manual_seed(tiny.SEED)
    folder = tiny.output_folder()
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    sizes |= {"attention_probs_dropout_prob": 0.0}
    BertForMaskedLM(BertConfig(vocab_size=50, **sizes)).save_pretrained(folder / "base")
    model = BertForMaskedLM.from_pretrained(folder / "base", dtype=torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        ids = torch.arange(8).repeat(4, 1)
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
