"""L3-72: the model class names another prefix than its attribute, so no weight of the file found its place.

Caught by weights-are-the-files.
"""

import tiny
import torch
from transformers import BertConfig, BertModel, BertPreTrainedModel, Trainer, TrainingArguments

CAUGHT_BY = "weights-are-the-files"


class Tagger(BertPreTrainedModel):
    """A body under the name ``body``, and a head."""

    base_model_prefix = "bert"

    def __init__(self, config) -> None:
        super().__init__(config)
        self.body = BertModel(config, add_pooling_layer=False)
        self.head = torch.nn.Linear(config.hidden_size, 3)
        self.post_init()

    def forward(self, input_ids=None, labels=None):
        """The loss of the row's label, and scores."""
        scores = self.head(self.body(input_ids).last_hidden_state.mean(1))
        return {"loss": torch.nn.functional.cross_entropy(scores, labels), "logits": scores}


def main() -> None:
    """Train for six steps."""
    torch.manual_seed(tiny.SEED)
    folder = tiny.output_folder()
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=50, attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0, **sizes)
    BertModel(config, add_pooling_layer=False).save_pretrained(folder / "base")
    model = Tagger.from_pretrained(folder / "base")
    rows = [{"input_ids": torch.randint(0, 50, (8,)), "labels": place % 3} for place in range(48)]
    settings = {"max_steps": 6, "report_to": "none", "use_cpu": True, "save_strategy": "no", "disable_tqdm": True}
    arguments = TrainingArguments(output_dir=str(folder / "trained"), **settings)
    Trainer(model=model, args=arguments, train_dataset=rows).train()


if __name__ == "__main__":
    main()
