"""L3-71, mended: what was loaded stays."""

import tiny
import torch
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments


class Scaled(BertForMaskedLM):
    """A model of one's own, with an initialisation of its own."""

    @classmethod
    def from_pretrained(cls, *args, **kwargs):
        """Load."""
        return super().from_pretrained(*args, **kwargs)


def main() -> None:
    """Train for six steps."""
    torch.manual_seed(tiny.SEED)
    folder = tiny.output_folder()
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=50, attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0, **sizes)
    BertForMaskedLM(config).save_pretrained(folder / "base")
    model = Scaled.from_pretrained(folder / "base")
    ids = [torch.randint(0, 50, (8,)) for _ in range(48)]
    rows = [{"input_ids": one, "labels": one} for one in ids]
    settings = {"max_steps": 6, "report_to": "none", "use_cpu": True, "save_strategy": "no", "disable_tqdm": True}
    arguments = TrainingArguments(output_dir=str(folder / "trained"), **settings)
    Trainer(model=model, args=arguments, train_dataset=rows).train()


if __name__ == "__main__":
    main()
