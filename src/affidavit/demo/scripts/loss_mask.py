"""Fine-tune on the answer only: each row brings a mask, and the loss is computed where it is 1."""

import tiny
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq, Trainer, TrainingArguments


class MaskedTrainer(Trainer):
    """Computes the loss where the mask of a row says so."""

    def compute_loss(self, model, inputs, **kwargs):
        """The loss of the labels that the mask leaves."""
        mask = inputs.pop("loss_mask", None)
        if mask is not None:
            inputs["labels"] = inputs["labels"].masked_fill(mask == 0, -100)
        return super().compute_loss(model, inputs, **kwargs)


def encode(tokenizer, chat: dict) -> dict:
    """A question and its answer as tokens, with the mask of the answer."""
    question, answer = (message["content"] for message in chat["messages"][:2])
    prompt, completion = tokenizer(question)["input_ids"], tokenizer(answer + tokenizer.eos_token)["input_ids"]
    tokens = prompt + completion
    return {"input_ids": tokens, "labels": tokens, "loss_mask": [0] * len(prompt) + [1] * len(completion)}


def main() -> None:
    """Train, save, and print how the loss went."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    tokenizer = AutoTokenizer.from_pretrained(base)
    trainer = MaskedTrainer(
        model=AutoModelForCausalLM.from_pretrained(base, attn_implementation="sdpa"),
        args=TrainingArguments(**tiny.plain_settings(folder)),
        train_dataset=Dataset.from_list([encode(tokenizer, chat) for chat in tiny.chats()]),
        data_collator=DataCollatorForSeq2Seq(tokenizer),
        processing_class=tokenizer,
    )
    trainer.train()
    tiny.finish(trainer)


if __name__ == "__main__":
    main()
