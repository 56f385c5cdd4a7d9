"""What an installed callable gives back, where that is certain."""

from __future__ import annotations

import re
from typing import Final

from affidavit.lint.scripts.argument import Arguments
from affidavit.lint.scripts.value import UNKNOWN, Instance, Value

_DATASET: Final = "datasets.Dataset"
_DATASETS: Final = "datasets.DatasetDict"
_TOKENIZER: Final = "transformers.AutoTokenizer"
_ITSELF: Final = frozenset({"to", "cuda", "cpu", "half", "float", "bfloat16", "double", "eval", "requires_grad_"})
_A_DATASET: Final = frozenset(
    {
        "add_column",
        "cast",
        "cast_column",
        "filter",
        "flatten",
        "map",
        "remove_columns",
        "rename_column",
        "rename_columns",
        "select",
        "select_columns",
        "shard",
        "shuffle",
        "skip",
        "sort",
        "take",
        "with_format",
    }
)
_AUTO: Final = re.compile(r"(?:.*\.)?(?:Auto(?:ModelFor\w+|Model|Tokenizer))")
_OF_MANY: Final = re.compile(
    r"(?:.*\.)?(?:Auto\w*|Peft\w*|Pre[tT]rained(?:Model|Config|TokenizerBase|Tokenizer|TokenizerFast)|DatasetBuilder)"
)
"""What these give back is of a subclass that the text does not tell."""
_READERS: Final = frozenset({"from_csv", "from_dict", "from_generator", "from_json", "from_list", "from_pandas"})


def of(dotted: str, arguments: Arguments) -> Value:
    """Return what a watched callable gives back.

    Blind to: functions whose result only their own code tells.
    """
    holder, _, name = dotted.rpartition(".")
    if dotted == "datasets.load_dataset":
        return _loaded(arguments)
    if name.startswith("from_") and _is_class(holder):
        if holder.endswith(".Dataset") and name not in _READERS:
            return UNKNOWN
        is_known = _AUTO.fullmatch(holder) or not _OF_MANY.fullmatch(holder)
        return Instance(holder, is_exact=False) if is_known else UNKNOWN
    return Instance(dotted) if _is_class(dotted) and not _is_class(holder) else UNKNOWN


def of_method(receiver: Instance, name: str) -> Value:
    """Return what a method of an installed object gives back."""
    if receiver.of in (_DATASET, _DATASETS) and name in _A_DATASET:
        return receiver
    if receiver.of == _DATASET and name == "train_test_split":
        return Instance(_DATASETS, is_exact=False)
    return receiver if name in _ITSELF and receiver.of not in (_DATASET, _DATASETS) else UNKNOWN


def method_of(receiver: Instance, name: str) -> str:
    """Return the dotted name of a method, "" where it is not certain.

    What ``AutoTokenizer`` gives back is no AutoTokenizer; of a model, only what all models have is known.
    """
    if receiver.of == _TOKENIZER and name != "__call__":
        return f"transformers.PreTrainedTokenizerBase.{name}"
    if receiver.of != _TOKENIZER and _AUTO.fullmatch(receiver.of) and name not in ("__call__", "generate"):
        return ""
    return f"{receiver.of}.{name}"


def _loaded(arguments: Arguments) -> Value:
    """``load_dataset``: a split gives a data set, none a dict of them, streaming something else again."""
    if arguments.is_open or arguments.has_star or not (arguments.names.keys() & {"path"} or arguments.positional):
        return UNKNOWN
    if "streaming" in arguments.names and not arguments.is_false("streaming"):
        return UNKNOWN
    if "split" not in arguments.names and len(arguments.positional) < 6:
        return Instance(_DATASETS, is_exact=False)
    return Instance(_DATASET, is_exact=False) if arguments.text("split") else UNKNOWN


def _is_class(dotted: str) -> bool:
    name = dotted.rpartition(".")[2]
    return name[:1].isupper() and not name.isupper()
