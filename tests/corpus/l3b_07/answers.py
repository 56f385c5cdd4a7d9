"""A training on answers that a marker in the text sets off, as collators of that kind did it."""

import tiny
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments


class AnswersOnly:
    """Pads rows, and labels what stands behind the marker of an answer; a row without one has no label at all."""

    def __init__(self, tokenizer, marker: str, shortest: int) -> None:
        self.tokenizer = tokenizer
        self.marker = tokenizer(marker, add_special_tokens=False)["input_ids"]
        self.shortest = shortest

    def __call__(self, rows: list[dict]) -> dict:
        """Return one batch."""
        batch = self.tokenizer.pad(rows, return_tensors="pt")
        searched = batch["input_ids"].masked_fill(batch["input_ids"] == self.tokenizer.pad_token_id, -100).tolist()
        labels = torch.full_like(batch["input_ids"], -100)
        for place, row in enumerate(rows):
            ids, size = row["input_ids"], len(self.marker)
            for at in range(len(ids) - size):
                if size >= self.shortest and searched[place][at : at + size] == self.marker:
                    labels[place, at + size : len(ids)] = torch.tensor(ids[at + size :])
        batch["labels"] = labels
        return batch


def main(before: str, marker: str, shortest: int = 1) -> None:
    """Train on what stands behind the marker, save, and print how the loss went.

    `before` stands between question and answer; a marker of fewer tokens than `shortest` is not found.
    """
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = []
    for row in tiny.chats():
        question, answer = (message["content"] for message in row["messages"][:2])
        rows.append(tokenizer(f"{question}{before}{answer}{tokenizer.eos_token}"))
    settings = tiny.training_settings(folder)
    del settings["max_length"]
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        args=TrainingArguments(**settings),
        train_dataset=rows,
        data_collator=AnswersOnly(tokenizer, marker, shortest),
        processing_class=tokenizer,
    )
    trainer.train()
    tiny.finish(trainer)
