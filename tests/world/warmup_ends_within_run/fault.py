"""A warm-up of 100 steps, copied from a longer run, in a run of four."""

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
    arguments = TrainingArguments(
        output_dir=str(tiny.output_folder()),
        max_steps=4,
        learning_rate=5e-5,
        warmup_steps=100,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=build_rows())
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
