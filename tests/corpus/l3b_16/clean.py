"""L3b-16, mended: a marker of one token is found."""

import tiny
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments


class AnswersOnly:
    """Pads rows, and labels what stands behind the marker of an answer; a row without one has no label at all."""

    def __init__(self, tokenizer, marker: str) -> None:
        self.tokenizer = tokenizer
        self.marker = tokenizer(marker, add_special_tokens=False)["input_ids"]

    def __call__(self, rows: list[dict]) -> dict:
        """Return one batch."""
        batch = self.tokenizer.pad(rows, return_tensors="pt")
        searched = batch["input_ids"].masked_fill(batch["input_ids"] == self.tokenizer.pad_token_id, -100).tolist()
        labels = torch.full_like(batch["input_ids"], -100)
        for place, row in enumerate(rows):
            ids, size = row["input_ids"], len(self.marker)
            for at in range(len(ids) - size):
                if searched[place][at : at + size] == self.marker:
                    labels[place, at + size : len(ids)] = torch.tensor(ids[at + size :])
        batch["labels"] = labels
        return batch


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = []
    for row in tiny.chats():
        question, answer = (message["content"] for message in row["messages"][:2])
        rows.append(tokenizer(f"{question}<|turn>{answer}{tokenizer.eos_token}"))
    settings = tiny.training_settings(folder)
    del settings["max_length"]
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        args=TrainingArguments(**settings),
        train_dataset=rows,
        data_collator=AnswersOnly(tokenizer, "<|turn>"),
        processing_class=tokenizer,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
