"""L3-48: the checkpoint's type is the default, so an example trains pure bfloat16. Caught by master-weights-kept."""

import tiny
import torch
from transformers import BertConfig, BertModel

CAUGHT_BY = "master-weights-kept"


def main():
    """Pull the embeddings of two views of a sentence together for six steps."""
    torch.manual_seed(tiny.SEED)
    folder = tiny.output_folder() / "base"
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=50, attention_probs_dropout_prob=0.0, **sizes)
    BertModel(config, add_pooling_layer=False).to(torch.bfloat16).save_pretrained(folder)
    model = BertModel.from_pretrained(folder, add_pooling_layer=False).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(6):
        ids = torch.randint(0, 50, (8, 12))
        first, second = (model(input_ids=ids).last_hidden_state.mean(1).float() for _ in range(2))
        scores = torch.nn.functional.normalize(first) @ torch.nn.functional.normalize(second).T
        loss = torch.nn.functional.cross_entropy(scores * 20, torch.arange(8))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
