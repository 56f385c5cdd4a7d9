"""Asks for a cosine; a scheduler from an older script, still passed in, holds the rate."""

import tiny
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
from transformers.optimization import get_constant_schedule


def build_model() -> BertForSequenceClassification:
    """A classifier of two layers, without dropout."""
    torch.manual_seed(tiny.SEED)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    quiet = {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0}
    return BertForSequenceClassification(BertConfig(vocab_size=50, num_labels=3, **sizes, **quiet))


def build_rows() -> list[dict]:
    """Rows of eight tokens in three classes; the class is the first token's."""
    torch.manual_seed(tiny.SEED)
    return [
        {"input_ids": torch.randint(0, 50, (8,)).index_fill(0, torch.tensor([0]), place % 3), "labels": place % 3}
        for place in range(48)
    ]


def main() -> None:
    """Train, and print how the loss went."""
    model = build_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    scheduler = get_constant_schedule(optimizer)
    arguments = TrainingArguments(
        output_dir=str(tiny.output_folder()),
        max_steps=6,
        learning_rate=5e-5,
        lr_scheduler_type="cosine",
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=build_rows(), optimizers=(optimizer, scheduler))
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
