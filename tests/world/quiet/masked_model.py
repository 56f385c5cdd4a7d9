"""A masked model: labels are what was hidden, and a short row may be left without any by chance."""

import tiny
from datasets import Dataset
from transformers import BertConfig, BertForMaskedLM, DataCollatorForLanguageModeling, Trainer, TrainingArguments


def main() -> None:
    """Train for some steps."""
    tokenizer = tiny.build_tokenizer()
    tokenizer.mask_token = "<unk>"
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    dropout = {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0}
    model = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **sizes, **dropout))
    texts = [{"text": chat["messages"][1]["content"]} for chat in tiny.chats()]
    rows = Dataset.from_list(texts).map(
        lambda batch: tokenizer(batch["text"], return_special_tokens_mask=True), batched=True
    )
    settings = {"max_steps": 4, "report_to": "none", "use_cpu": True, "save_strategy": "no", "disable_tqdm": True}
    arguments = TrainingArguments(output_dir=str(tiny.output_folder()), **settings)
    collator = DataCollatorForLanguageModeling(tokenizer)
    Trainer(model=model, args=arguments, train_dataset=rows, data_collator=collator).train()


if __name__ == "__main__":
    main()
