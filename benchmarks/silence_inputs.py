"""What the public scripts of silence.toml read: small models, tokenizers and data, made here, none fetched.

Each input is a function with the name that silence.toml gives it. It gets the working folder of the script and leaves
there what a download would have left, under the name by which the script asks for it.
"""

from __future__ import annotations

import itertools
import json
import math
import pickle
import random
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from measuring import ROOT

sys.path.insert(0, str(ROOT / "src/affidavit/demo/scripts"))

import tiny
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

ROWS = 64
# Some scripts warm up for 100 steps, whatever they are given: with so many rows the warm-up ends within their run.
MANY_ROWS = 640
# A metric is a module that the library loads by name; these say what a scorer says, without its packages.
METRIC = """import datasets
import evaluate


class Metric(evaluate.Metric):
    def _info(self):
        kind = datasets.Value({kind!r})
        fields = {{"predictions": kind, "references": {references}}}
        return evaluate.MetricInfo(description="", citation="", features=datasets.Features(fields))

    def _compute(self, predictions, references, **_):
        right = sum({equal} for one, other in zip(predictions, references))
        return {{{name!r}: right / max(1, len(predictions))}}
"""


def llama(place: Path) -> None:
    """A decoder with a chat template."""
    tokenizer = tiny.build_tokenizer(tiny.TEMPLATE)
    torch.manual_seed(tiny.SEED)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    tokenizer.save_pretrained(place / "llama")
    LlamaForCausalLM(config).save_pretrained(place / "llama")


def bert(place: Path) -> None:
    """An encoder under the name that scripts hard-code."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.train_from_iterator(_sentences(), trainers.WordPieceTrainer(vocab_size=300, special_tokens=special))
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", core.token_to_id("[CLS]")), ("[SEP]", core.token_to_id("[SEP]"))],
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        model_max_length=128,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    torch.manual_seed(tiny.SEED)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=128,
    )
    tokenizer.save_pretrained(place / "bert-base-cased")
    BertForMaskedLM(config).save_pretrained(place / "bert-base-cased")


def t5(place: Path) -> None:
    """An encoder with a decoder."""
    core = Tokenizer(models.WordLevel(unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.train_from_iterator(_sentences(), trainers.WordLevelTrainer(special_tokens=["<pad>", "</s>", "<unk>"]))
    core.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", core.token_to_id("</s>"))]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=128
    )
    torch.manual_seed(tiny.SEED)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_heads=4,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
    )
    tokenizer.save_pretrained(place / "t5")
    T5ForConditionalGeneration(config).save_pretrained(place / "t5")


def text(place: Path) -> None:
    """Sentences, one a line."""
    _text(place / "train.txt", _sentences())
    _text(place / "valid.txt", list(_sentences())[:40])


def wikitext(place: Path) -> None:
    """The folder of a word-level language model."""
    for split, times in (("train", 4), ("valid", 1), ("test", 1)):
        _text(place / "data/wikitext-2" / f"{split}.txt", list(_sentences()) * times)


def wikitext_file(place: Path) -> None:
    """One file that is long enough for the split that the script cuts from it: 4,000 blocks of 35 words, and some."""
    lines, words = [], 0
    while words < 35 * 4080:
        for line in _sentences():
            lines.append(line)
            words += len(line.split()) + 1
    _text(place / "data/wikitext-2.txt", lines)


def characters(place: Path) -> None:
    """Characters as 16-bit ids, with the table that names them."""
    whole = "\n".join(_sentences())
    alphabet = sorted(set(whole))
    ids = {letter: number for number, letter in enumerate(alphabet)}
    folder = place / "data/shakespeare_char"
    folder.mkdir(parents=True, exist_ok=True)
    cut = len(whole) * 9 // 10
    for name, part in (("train", whole[:cut]), ("val", whole[cut:])):
        (folder / f"{name}.bin").write_bytes(struct.pack(f"<{len(part)}H", *(ids[letter] for letter in part)))
    meta = {"vocab_size": len(alphabet), "itos": dict(enumerate(alphabet)), "stoi": ids}
    (folder / "meta.pkl").write_bytes(pickle.dumps(meta))


def names(place: Path) -> None:
    """Short words, one a line; a tenth of them is held back by the script."""
    choose = random.Random(tiny.SEED).choice
    _text(place / "names.txt", ("".join(choose("abdeiklmnorstu") for _ in range(6)) for _ in range(400)))


def sine(place: Path) -> None:
    """Waves, as the generator beside the script would have saved them."""
    rows = [[math.sin((step + 3 * row) / 20) for step in range(60)] for row in range(8)]
    torch.save(torch.tensor(rows, dtype=torch.float64).numpy(), place / "traindata.pt")


def pairs(place: Path) -> None:
    """Two sentences and whether they say the same."""
    _json(place / "train.json", _pairs())
    _json(place / "valid.json", _pairs()[:16])


def glue(place: Path) -> None:
    """The same, as the folder of a data set with a named part."""
    folder = place / "nyu-mll/glue"
    for split, rows in (("train", _pairs(MANY_ROWS)), ("validation", _pairs()[:32])):
        _json(folder / "mrpc" / f"{split}.jsonl", [{**row, "idx": number} for number, row in enumerate(rows)])
    files = "".join(f"  - split: {part}\n    path: mrpc/{part}.jsonl\n" for part in ("train", "validation"))
    (folder / "README.md").write_text(f"---\nconfigs:\n- config_name: mrpc\n  data_files:\n{files}---\n")


def swag(place: Path) -> None:
    """A sentence and four endings, one of them right."""
    rows = []
    for number, row in enumerate(_pairs()):
        endings = [f"The {word} is {row['sentence2'].split()[-1]}" for word in ("sea", "hill", "moon", "fox")]
        rows.append(
            {
                "sent1": row["sentence1"],
                "sent2": "Then",
                **{f"ending{i}": ending for i, ending in enumerate(endings)},
                "label": number % 4,
            }
        )
    _json(place / "train.json", rows)
    _json(place / "valid.json", rows[:16])


def translation(place: Path) -> None:
    """Sentences in two languages that differ in the order of their words."""
    rows = [{"translation": {"en": line, "xx": " ".join(reversed(line.split()))}} for line in list(_sentences())[:ROWS]]
    _json(place / "train.json", rows)
    _json(place / "valid.json", rows[:16])


def alpaca(place: Path) -> None:
    """Instructions with their answers."""
    rows = [
        {"instruction": row["messages"][0]["content"], "input": "", "output": row["messages"][1]["content"]}
        for row in tiny.chats(MANY_ROWS)
    ]
    _json(place / "alpaca/train.jsonl", rows)


def chats(place: Path) -> None:
    """Conversations."""
    _splits(place / "chats", tiny.chats(ROWS))


def preferences(place: Path) -> None:
    """A question with a better and a worse answer."""
    rows = []
    for row, other in _two_chats():
        rows.append({"prompt": row[:1], "chosen": row[1:2], "rejected": other[1:2]})
    _splits(place / "preferences", rows)


def unpaired(place: Path) -> None:
    """An answer and whether it was liked."""
    rows = []
    for row, other in _two_chats():
        rows.append({"prompt": row[:1], "completion": row[1:2], "label": True})
        rows.append({"prompt": row[:1], "completion": other[1:2], "label": False})
    _splits(place / "unpaired", rows)


def accuracy(place: Path) -> None:
    _metric(place, "accuracy")


def glue_metric(place: Path) -> None:
    _metric(place, "glue", name="accuracy")


def sacrebleu(place: Path) -> None:
    _metric(place, "sacrebleu", name="score", kind="string", many=True)


def _metric(place: Path, module: str, *, name: str = "accuracy", kind: str = "int64", many: bool = False) -> None:
    (place / module).mkdir()
    text = METRIC.format(
        kind=kind,
        name=name,
        references="datasets.Sequence(kind)" if many else "kind",
        equal="one in other" if many else "one == other",
    )
    (place / module / f"{module}.py").write_text(text)


def _sentences() -> Iterable[str]:
    return [turn["content"] for row in tiny.chats(200) for turn in row["messages"]]


def _pairs(count: int = ROWS) -> list[dict[str, Any]]:
    found = [(row["messages"][0]["content"], row["messages"][1]["content"]) for row in tiny.chats(count + 1)]
    return [
        {"sentence1": ask, "sentence2": found[number + number % 2][1], "label": 1 - number % 2}
        for number, (ask, _) in enumerate(found[:count])
    ]


def _two_chats() -> list[tuple[list[dict[str, str]], list[dict[str, str]]]]:
    rows = [row["messages"] for row in tiny.chats(ROWS + 1)]
    return list(itertools.pairwise(rows))


def _splits(folder: Path, rows: list[dict[str, Any]]) -> None:
    _json(folder / "train.jsonl", rows)
    _json(folder / "test.jsonl", rows[:16])


def _json(path: Path, rows: list[dict[str, Any]]) -> None:
    _text(path, map(json.dumps, rows))


def _text(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines))


INPUTS = {
    each.__name__: each
    for each in (
        llama,
        bert,
        t5,
        text,
        wikitext,
        wikitext_file,
        characters,
        names,
        sine,
        pairs,
        glue,
        swag,
        translation,
        alpaca,
        chats,
        preferences,
        unpaired,
        accuracy,
        glue_metric,
        sacrebleu,
    )
}
