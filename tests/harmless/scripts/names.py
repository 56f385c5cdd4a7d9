"""Everything that hears names, used as a library's user would: right names, wrong ones, classes of one's own.

It prints what came of each call, so that a run that is watched can be held against one that is not.
"""

import copy
import hashlib
import inspect
import json
import pickle
import random
import warnings

import tiny
import torch
import transformers
from datasets.fingerprint import Hasher
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    GenerationConfig,
    LlamaConfig,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.auto_factory import _BaseAutoModelClass

warnings.simplefilter("ignore")
transformers.logging.set_verbosity_error()


class OwnConfig(LlamaConfig):
    """A config of the script's own."""

    model_type = "own"

    def __init__(self, gates=2, **kwargs):
        self.gates = gates
        super().__init__(**kwargs)


class OwnTokenizer(PreTrainedTokenizerFast):
    """A tokenizer of the script's own."""

    def __init__(self, *args, shout=False, **kwargs):
        super().__init__(*args, **kwargs)
        self.shout = shout


def said(call):
    """What a call returned, or raised."""
    try:
        return str(call())
    except Exception as error:  # noqa: BLE001  whatever it raises, it must raise the same
        return f"{type(error).__name__}: {error}"


def encoded_anew(row):
    """A function as it is given to map; only its hash is asked for."""
    return AutoTokenizer.from_pretrained(row["base"], padding_side="left")(row["text"])


def digest(text):
    """A short name for a long text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def bound():
    """The functions that hear names, as a reader of code sees them."""
    base = transformers.PreTrainedTokenizerBase
    config = next(kind for kind in LlamaConfig.__mro__ if kind.__name__.lower() == "pretrainedconfig")
    last = "__post_init__" if "__post_init__" in vars(config) else "__init__"
    return {
        "config": getattr(config, last),
        "config loader": config.from_pretrained,
        "auto config": AutoConfig.from_pretrained,
        "auto model": _BaseAutoModelClass.from_pretrained,
        "auto tokenizer": AutoTokenizer.from_pretrained,
        "tokenizer loader": base.from_pretrained,
        "tokenizer": base.__init__,
        "call": base.__call__,
        "template": base.apply_chat_template,
        "generation": GenerationConfig.__init__,
        "quantisation": BitsAndBytesConfig.__init__,
    }


def main():
    """Call everything, and print what came of it."""
    folder = tiny.output_folder()
    base = tiny.write_base(folder)
    torch.manual_seed(0)
    random.seed(0)
    tokenizer = AutoTokenizer.from_pretrained(base, pading_side="left")
    own = OwnTokenizer.from_pretrained(base, shout=True)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="eager")
    talk = tiny.chats()[0]["messages"]
    config = LlamaConfig(hidden_size=64, num_attention_heads=4, sliding_windw=4)
    told = {
        "signatures": {name: str(inspect.signature(function)) for name, function in bound().items()},
        "sources": {name: digest(inspect.getsource(function)) for name, function in bound().items()},
        "stray": said(lambda: config.sliding_windw),
        "config": config.to_json_string(),
        "own config": said(lambda: OwnConfig(gates=3, hidden_size=64, num_attention_heads=4).gates),
        "copied": said(lambda: copy.deepcopy(config).to_dict() == config.to_dict()),
        "pickled": said(lambda: pickle.loads(pickle.dumps(tokenizer)).init_kwargs["pading_side"]),
        "own tokenizer": [own.shout, sorted(map(str, own.init_kwargs))],
        "hashes": [Hasher.hash(one) for one in (tokenizer, tokenizer.__call__, tokenizer.apply_chat_template, config)],
        "hash of a mapped function": Hasher.hash(encoded_anew),
        "encoded": said(lambda: tokenizer("one two", truncation=True, max_length=3)),
        "encoded, misspelt": said(lambda: tokenizer("one two", truncaton=True, max_length=3)),
        "template": said(lambda: tokenizer.apply_chat_template(talk, tokenize=False, enable_thinkng=False)),
        "no template": said(lambda: tokenizer.apply_chat_template(talk, chat_template="{{ nothing.of.it }}")),
        "generation": said(lambda: GenerationConfig(temprature=0.2)),
        "quantisation": said(lambda: BitsAndBytesConfig(load_in_4bits=True).to_dict()),
        "auto config": said(lambda: AutoConfig.from_pretrained(base, attn_implementaton="eager").to_dict()),
        "unused": said(lambda: AutoConfig.from_pretrained(base, foo=1, return_unused_kwargs=True)[1]),
        "no folder": said(lambda: AutoConfig.from_pretrained(folder / "nowhere", foo=1))[:60],
        "loader": said(lambda: AutoModelForCausalLM.from_pretrained(base, attn_implementaton="eager")),
        "model": said(lambda: model(input_ids=torch.tensor([[1, 2]]), attention_maks=None).logits.sum().item()),
        "random": [random.random(), torch.rand(1).item()],
    }
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(3):
        batch = tokenizer(["one two", "three"], return_tensors="pt", padding=True, truncaton_side="left")
        batch.pop("token_type_ids", None)
        loss = model(**batch, labels=batch["input_ids"], attention_maks=batch["attention_mask"]).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    told["loss"] = loss.item()
    print(json.dumps(told))


if __name__ == "__main__":
    main()
