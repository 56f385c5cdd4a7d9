"""All wrong names are said at once, before the call or after it; a right name is no problem, and costs nothing."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import affidavit
from affidavit.fact.errors import AffidavitError
from affidavit.names.call import NamesError, call

# A name that stands in a string here would be one that this module reads; so it is put together.
STRAY, WRONG, OTHER = "si" + "zee", "depht" + "", "colo" + "rr"


@dataclass
class Settings:
    size: int = 1
    depth: int = 1
    more: dict[str, Any] = field(default_factory=dict)


class Kept:
    """It keeps what it does not know, as configs do."""

    def __init__(self, size: int = 1, **kwargs: Any) -> None:
        self.size = size
        for name, value in kwargs.items():
            setattr(self, name, value)


class Own(Kept):
    """A class of the script that takes one more name."""

    def __init__(self, *, flavour: str = "", **kwargs: Any) -> None:
        self.taste = flavour
        super().__init__(**kwargs)


def test_the_object_is_made_as_if_it_had_been_called() -> None:
    assert affidavit.call is call
    assert call(Settings, {"size": 3, "depth": 2}) == Settings(3, 2)
    assert call(Settings, {"depth": 2}, 3) == Settings(3, 2)
    assert call(Own, {"flavour": "lime", "size": 2}).taste == "lime"
    assert call(dict, {"anything": 1}) == {"anything": 1}


def test_every_refused_name_is_said_at_once_and_nothing_is_called() -> None:
    with pytest.raises(NamesError) as raised:
        call(Settings, {STRAY: 1, OTHER: 2, "depth": 3})
    said = str(raised.value)
    assert isinstance(raised.value, TypeError) and isinstance(raised.value, AffidavitError)
    assert STRAY in said and OTHER in said and "the nearest name is size" in said
    assert "The call was not made." in said and "\nNot affected:" in said


def test_a_name_that_was_put_aside_is_said_after_the_call() -> None:
    with pytest.raises(NamesError, match="the nearest name is size") as raised:
        call(Kept, {STRAY: 1})
    assert "The call was made" in str(raised.value)


def test_a_name_that_the_script_reads_back_is_in_its_place() -> None:
    made = call(Kept, {"house_flag": 1})
    assert made.house_flag == 1  # type: ignore[attr-defined]


def test_an_error_of_the_callee_is_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        call(lambda size: size // 0, {"size": 1})


SCRIPT = """
import sys
import affidavit
from transformers import BitsAndBytesConfig, GenerationConfig, LlamaConfig, TrainingArguments
from transformers.training_args import TrainingArguments as Late

def refused(callee, kwargs):
    try:
        affidavit.call(callee, kwargs)
    except TypeError as error:
        return str(error).partition(chr(10))[0]
    return "made"

print(refused(TrainingArguments, dict(output_dir=sys.argv[1], lerning_rate=1, optim_rgs="x",
    gradient_checkpointing_kwargs=dict(use_reentrnt=False), accelerator_config=dict(split_batchs=True))))
print(refused(LlamaConfig, dict(max_position_embeddngs=64)))
print(refused(GenerationConfig, dict(temprature=0.2)))
print(refused(BitsAndBytesConfig, dict(load_in_4bits=True)))
print(refused(LlamaConfig, dict(hidden_size=64, attn_implementation="eager", torch_dtype="float32", rope_theta=1e4)))
print(refused(GenerationConfig, dict(do_sample=True, temperature=0.2)))
"""


def test_what_libraries_swallow_is_refused_and_what_they_read_is_not(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    arguments, config, generation, quantisation, *legal = ended.stdout.splitlines()
    for name in ("lerning_rate", "optim_rgs", "use_reentrnt", "split_batchs"):
        assert name in arguments
    assert "max_position_embeddngs" in config and "the nearest name is max_position_embeddings" in config
    assert "temprature" in generation and "load_in_4bits" in quantisation
    assert legal == ["made", "made"]
