"""A classifier: a label stands for a row, and whose tokens carry it is no question."""

import tiny
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


def main() -> None:
    """Train for four steps."""
    torch.manual_seed(tiny.SEED)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    model = BertForSequenceClassification(
        BertConfig(vocab_size=50, num_labels=3, attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0, **sizes)
    )
    rows = [{"input_ids": torch.randint(0, 50, (8,)), "labels": place % 3} for place in range(32)]
    settings = {"max_steps": 4, "report_to": "none", "use_cpu": True, "save_strategy": "no", "disable_tqdm": True}
    arguments = TrainingArguments(output_dir=str(tiny.output_folder()), **settings)
    Trainer(model=model, args=arguments, train_dataset=rows).train()


if __name__ == "__main__":
    main()
