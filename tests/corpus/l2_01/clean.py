"""L2-01, mended: the keyword is the one that the loader reads."""

import tiny
from transformers import AutoConfig, LlamaConfig, LlamaForCausalLM

CAUGHT_BY = "names-consumed"


class HouseModel(LlamaForCausalLM):
    """A model whose constructor takes more than it names, as those of GPT-2's time did."""

    def __init__(self, config: LlamaConfig, *inputs: object, **kwargs: object) -> None:
        super().__init__(config)
        self.inputs = inputs


def write_model(folder, tokenizer):
    """Write a checkpoint of the house's model, and return its folder."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
    )
    tokenizer.save_pretrained(folder / "base")
    HouseModel(config).save_pretrained(folder / "base")
    return folder / "base"


def main() -> None:
    """Train, and print how the loss went."""
    folder = tiny.output_folder()
    tokenizer = tiny.build_tokenizer()
    base = write_model(folder, tokenizer)
    print("layers:", AutoConfig.from_pretrained(base).num_hidden_layers)
    model = HouseModel.from_pretrained(base, revision="main", dtype="float32")
    trainer = tiny.chat_trainer(folder, base, model=model, processing_class=tokenizer)
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
