"""A chat model in a LightningModule: the loss is its own, the loop is the framework's."""

import lightning.pytorch as lightning
import tiny
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer


class Chat(lightning.LightningModule):
    def __init__(self, base):
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa", dtype=torch.float32)
        self.model.train()  # a loader returns it in eval mode, and Lightning leaves it there

    def training_step(self, batch, number):
        return self.model(**batch).loss

    def validation_step(self, batch, number):
        self.log("validation_loss", self.model(**batch).loss)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3)
        scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=8)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


def main():
    """Fit for eight steps of two batches each, and validate after four."""
    lightning.seed_everything(tiny.SEED)
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = [
        tokenizer.apply_chat_template(
            row["messages"], return_dict=True, return_assistant_tokens_mask=True, max_length=64, truncation=True
        )
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
    trainer = lightning.Trainer(
        max_steps=8,
        accumulate_grad_batches=2,
        val_check_interval=8,
        limit_val_batches=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=str(folder),
    )
    trainer.fit(Chat(base), loader, DataLoader(rows, batch_size=4, collate_fn=collate))
    print(f"loss {trainer.callback_metrics['validation_loss']:.3f}")


if __name__ == "__main__":
    main()
