"""Asks for the fused kernel of a model whose layers hold no config: the class of each was chosen when it was built."""

import tiny
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


def main() -> None:
    """Train for four steps."""
    folder = tiny.output_folder()
    torch.manual_seed(tiny.SEED)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    BertForSequenceClassification(
        BertConfig(vocab_size=50, num_labels=3, attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0, **sizes)
    ).save_pretrained(folder / "base")
    model = BertForSequenceClassification.from_pretrained(folder / "base", attn_implementation="sdpa")
    rows = [{"input_ids": torch.randint(0, 50, (8,)), "labels": place % 3} for place in range(32)]
    settings = {"max_steps": 4, "report_to": "none", "use_cpu": True, "save_strategy": "no", "disable_tqdm": True}
    arguments = TrainingArguments(output_dir=str(folder / "trained"), **settings)
    Trainer(model=model, args=arguments, train_dataset=rows).train()


if __name__ == "__main__":
    main()
