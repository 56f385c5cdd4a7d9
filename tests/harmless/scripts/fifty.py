"""Fifty seeded steps with dropout, shuffling and two loader workers, in each kind of loop; prints what came out."""

import json
import random

import numpy
import tiny
import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments
from trl import SFTConfig, SFTTrainer
from witnessed import seed, told

STEPS = 50
BATCH = 4


class Rows(torch.utils.data.Dataset):
    """Encoded chats; each read draws from every random generator, as augmentation does."""

    def __init__(self, tokenizer) -> None:
        texts = [tokenizer.apply_chat_template(row["messages"], tokenize=False) for row in tiny.chats(128)]
        self.rows = [tokenizer(text, max_length=48, truncation=True)["input_ids"] for text in texts]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> list:
        ids = list(self.rows[place])
        ids[random.randrange(len(ids))] = int(numpy.random.randint(10, 60)) + int(torch.randint(3, ()))
        return ids


class Stream(torch.utils.data.IterableDataset):
    """The same rows, dealt out among workers."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        place, stride = (worker.id, worker.num_workers) if worker else (0, 1)
        while True:
            yield from (self.rows[at] for at in range(place, len(self.rows), stride))


def collate(rows: list) -> dict:
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


class Dropping(torch.nn.Module):
    """A language model with dropout on its way in, because Gemma has none."""

    def __init__(self, model) -> None:
        super().__init__()
        self.model = model
        self.drop = torch.nn.Dropout(0.2)

    def forward(self, input_ids, attention_mask, labels):
        embedded = self.drop(self.model.get_input_embeddings()(input_ids))
        return self.model(inputs_embeds=embedded, attention_mask=attention_mask, labels=labels)


def plain(base, rows, accumulate: int = 1) -> dict:
    seed()
    model = Dropping(AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=STEPS)
    shuffle = None if isinstance(rows, torch.utils.data.IterableDataset) else True
    loader = torch.utils.data.DataLoader(rows, batch_size=BATCH, shuffle=shuffle, num_workers=2, collate_fn=collate)
    losses, micro = [], 0
    while len(losses) < STEPS:
        for batch in loader:
            loss = model(**batch).loss / accumulate
            loss.backward()
            micro += 1
            if micro % accumulate == 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
                losses.append(loss.item())
                if len(losses) == STEPS:
                    break
    return told(model, losses)


def settings(folder) -> dict:
    more = {"max_steps": STEPS, "dataloader_num_workers": 2, "seed": 11, "disable_tqdm": True}
    return tiny.training_settings(folder) | more


def logged(trainer) -> list:
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def trainer(base, tokenizer, rows, folder) -> dict:
    seed()
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="eager", attention_dropout=0.2)
    asked = {
        key: value for key, value in settings(folder).items() if key not in ("max_length", "activation_checkpointing")
    }
    asked |= {"save_strategy": "steps", "save_steps": 25, "save_only_model": False}
    arguments = TrainingArguments(**asked | {"gradient_accumulation_steps": 2, "output_dir": str(folder / "saved")})
    if hasattr(arguments, "logging_dir"):
        arguments.logging_dir = None  # transformers 4 names a folder after the second, and saves the name
    run = Trainer(model=model, args=arguments, train_dataset=rows, data_collator=collate, processing_class=tokenizer)
    run.train()
    return told(model, logged(run))


def sft(base, tokenizer, folder) -> dict:
    seed()
    run = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **settings(folder)),
        peft_config=LoraConfig(task_type="CAUSAL_LM", r=4, lora_dropout=0.1, target_modules=["q_proj", "v_proj"]),
    )
    run.train()
    return told(run.model, logged(run))


def main() -> None:
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = Rows(tokenizer)
    said = {
        "plain": plain(base, rows),
        "iterable": plain(base, Stream(rows)),
        "accumulated": plain(base, rows, accumulate=3),
        "trainer": trainer(base, tokenizer, rows, folder),
        "sft": sft(base, tokenizer, folder),
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
