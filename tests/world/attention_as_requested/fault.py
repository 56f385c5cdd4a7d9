"""Asks for the fused kernel, draws a figure with eager attention first, and forgets to go back."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer


def draw_attention(model, tokenizer) -> None:
    """Print how far one sentence looks back, layer by layer; only eager attention returns its weights."""
    model.set_attn_implementation("eager")
    inputs = tokenizer("The sea near the hill is blue.", return_tensors="pt")
    for number, weights in enumerate(model(**inputs, output_attentions=True).attentions):
        print(f"layer {number}: {weights[0, :, -1, :-1].sum(-1).mean():.2f} on earlier tokens")


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa")
    tokenizer = AutoTokenizer.from_pretrained(base)
    draw_attention(model, tokenizer)

    trainer = SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(tiny.chats()),
        args=SFTConfig(assistant_only_loss=True, **tiny.training_settings(folder)),
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
