"""Asks for a rate of 5e-5; the scheduler that is passed in warms up to a peak of its own."""

import tiny
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


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
    # The optimizer starts at 5e-5; the schedule climbs to the default that its author liked.
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1 + step * 10, 20))
    arguments = TrainingArguments(
        output_dir=str(tiny.output_folder()),
        max_steps=6,
        learning_rate=5e-5,
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
