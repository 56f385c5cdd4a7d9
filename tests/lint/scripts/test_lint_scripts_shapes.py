"""Every shape of a call in the tables: the names that surely reach the callee, their lines, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from script_world import bare, project, sure

T = "transformers.TrainingArguments"
HEAD = "from transformers import TrainingArguments\n"

SHAPES = {
    "keywords": ("a = TrainingArguments(output_dir='o',\n  lerning_rate=1)\n", [(T, "output_dir:2 lerning_rate:3")]),
    "display": (
        "KW = {'output_dir': 'o',\n  'lerning_rate': 1}\nTrainingArguments(**KW)\n",
        [(T, "output_dir:2 lerning_rate:3")],
    ),
    "dict call": (
        "KW = dict(output_dir='o', lerning_rate=1)\nTrainingArguments(**KW)\n",
        [(T, "output_dir:2 lerning_rate:2")],
    ),
    "inline": ("TrainingArguments(**{'lerning_rate': 1})\n", [(T, "lerning_rate:2")]),
    "inline dict": ("TrainingArguments(**dict(lerning_rate=1))\n", [(T, "lerning_rate:2")]),
    "pairs": ("TrainingArguments(**dict([('lerning_rate', 1)]))\n", [(T, "lerning_rate:2")]),
    "spread": ("C = {'lerning_rate': 1}\nTrainingArguments(**{**C, 'seed': 1})\n", [(T, "lerning_rate:2 seed:3")]),
    "union": ("C = {'lerning_rate': 1}\nTrainingArguments(**(C | {'seed': 1}))\n", [(T, "lerning_rate:2 seed:3")]),
    "union in place": (
        "C = {'seed': 1}\nC |= {'lerning_rate': 1}\nTrainingArguments(**C)\n",
        [(T, "seed:2 lerning_rate:3")],
    ),
    "item": ("d = {}\nd['lerning_rate'] = 1\nTrainingArguments(**d)\n", [(T, "lerning_rate:3")]),
    "update names": ("d = {}\nd.update(lerning_rate=1)\nTrainingArguments(**d)\n", [(T, "lerning_rate:3")]),
    "update display": ("d = {}\nd.update({'lerning_rate': 1})\nTrainingArguments(**d)\n", [(T, "lerning_rate:3")]),
    "setdefault": ("d = {}\nd.setdefault('lerning_rate', 1)\nTrainingArguments(**d)\n", [(T, "lerning_rate:3")]),
    "copy": (
        "d = {'lerning_rate': 1}\ne = d.copy()\nd.pop('lerning_rate')\nTrainingArguments(**e)\n",
        [(T, "lerning_rate:2")],
    ),
    "alias": ("d = {}\ne = d\ne['lerning_rate'] = 1\nTrainingArguments(**d)\n", [(T, "lerning_rate:4")]),
    "nested": ("C = {'train': {'lerning_rate': 1}}\nTrainingArguments(**C['train'])\n", [(T, "lerning_rate:2")]),
    "inside": (
        "TrainingArguments(lr_scheduler_kwargs={'num_cycle': 1})\n",
        [(T, "lr_scheduler_kwargs:2[num_cycle:2]")],
    ),
    "inside by name": (
        "K = dict(num_cycle=1)\nTrainingArguments(lr_scheduler_kwargs=K)\n",
        [(T, "lr_scheduler_kwargs:3[num_cycle:2]")],
    ),
    "build": (
        "def build(cfg: dict):\n    return TrainingArguments(**cfg)\nbuild({'lerning_rate': 1})\n",
        [(T, "lerning_rate:4")],
    ),
    "two levels": (
        "def build(cfg):\n    return TrainingArguments(**cfg)\n"
        "def more(cfg):\n    cfg['seed'] = 1\n    return build(cfg)\n"
        "more({'lerning_rate': 1})\n",
        [(T, "lerning_rate:7 seed:5")],
    ),
    "keywords through": (
        "def build(**kw):\n    return TrainingArguments(output_dir='o', **kw)\nbuild(lerning_rate=1)\n",
        [(T, "output_dir:3 lerning_rate:4")],
    ),
    "returned": (
        "def common():\n    return {'lerning_rate': 1}\nTrainingArguments(**common())\n",
        [(T, "lerning_rate:3")],
    ),
    "typed": (
        "from typing import TypedDict\nclass TA(TypedDict):\n    lerning_rate: float\ntd: TA = {'lerning_rate': 1}\n"
        "TrainingArguments(**td)\n",
        [(T, "lerning_rate:5")],
    ),
    "typed call": (
        "from typing import TypedDict\nclass TA(TypedDict):\n"
        "    lerning_rate: float\nTrainingArguments(**TA(lerning_rate=1))\n",
        [(T, "lerning_rate:5")],
    ),
    "partial": (
        "from functools import partial\nmake = partial(TrainingArguments, lerning_rate=1)\nmake(seed=1)\n",
        [(T, "lerning_rate:3"), (T, "seed:4")],
    ),
    "in a function": (
        "def main():\n    kw = {'lerning_rate': 1}\n    TrainingArguments(**kw)\n",
        [(T, "lerning_rate:3")],
    ),
    "in a method": ("class A:\n    def f(self):\n        TrainingArguments(lerning_rate=1)\n", [(T, "lerning_rate:4")]),
    "in a lambda": ("f = lambda: TrainingArguments(lerning_rate=1)\n", [(T, "lerning_rate:2")]),
    "in a comprehension": ("a = [TrainingArguments(lerning_rate=x) for x in (1, 2)]\n", [(T, "lerning_rate:2")]),
    "a list of dicts": (
        "for kw in [{'lerning_rate': 1}, {'seed': 1}]:\n    TrainingArguments(**kw)\n",
        [(T, "lerning_rate:2 seed:2")],
    ),
    "one branch": (
        "import sys\nd = {}\nif sys.argv:\n    d['lerning_rate'] = 1\nTrainingArguments(**d)\n",
        [(T, "lerning_rate:5")],
    ),
    "either": (
        "import sys\nif sys.argv:\n    d = {'lerning_rate': 1}\nelse:\n    d = {'seed': 1}\nTrainingArguments(**d)\n",
        [(T, "lerning_rate:4 seed:6")],
    ),
    "said first": (
        "import json\nd = {'lerning_rate': 1}\nprint(d, json.dumps(d), len(d))\nTrainingArguments(**d)\n",
        [(T, "lerning_rate:3")],
    ),
    "with what is not known": (
        "import yaml\nTrainingArguments(**{**yaml.safe_load('x'), 'lerning_rate': 1})\n",
        [(T, "lerning_rate:3")],
    ),
    "replaced": (
        "import dataclasses\na = TrainingArguments(output_dir='o')\ndataclasses.replace(a, lerning_rate=1)\n",
        [(T, "output_dir:3"), (T, "lerning_rate:4")],
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_names_reach_the_call(shape: str, tmp_path: Path) -> None:
    text, expected = SHAPES[shape]
    assert sure(project(tmp_path, train=HEAD + text)) == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_the_twin_with_the_right_name_differs_by_the_name_alone(shape: str, tmp_path: Path) -> None:
    text, expected = SHAPES[shape]
    twin = text.replace("lerning_rate", "learning_rate").replace("num_cycle", "num_cycles")
    right = [
        (callee, names.replace("lerning_rate", "learning_rate").replace("num_cycle", "num_cycles"))
        for callee, names in expected
    ]
    assert sure(project(tmp_path, train=HEAD + twin)) == right


CALLEES = {
    "import transformers\ntransformers.AutoModel.from_pretrained('x', torch_dtyp=1)": [
        ("transformers.AutoModel.from_pretrained", "torch_dtyp:2")
    ],
    "import transformers as tf\ntf.TrainingArguments(seed=1)": [(T, "seed:2")],
    "from transformers import TrainingArguments as TA\nTA(seed=1)": [(T, "seed:2")],
    "import torch.optim as optim\noptim.AdamW([], lerning_rate=1)": [("torch.optim.AdamW", "lerning_rate:2")],
    "import torch\ntorch.optim.AdamW([], lerning_rate=1)": [("torch.optim.AdamW", "lerning_rate:2")],
    "def f():\n    from trl import SFTConfig\n    SFTConfig(max_seq_length=1)": [("trl.SFTConfig", "max_seq_length:3")],
    "from peft import LoraConfig\nLoraConfig(lora_aplha=1)": [("peft.LoraConfig", "lora_aplha:2")],
    "from transformers import AutoTokenizer\nAutoTokenizer.from_pretrained('x', pading_side='left')": [
        ("transformers.AutoTokenizer.from_pretrained", "pading_side:2")
    ],
    "from transformers import BitsAndBytesConfig as B\nB(load_in_4bits=True)": [
        ("transformers.BitsAndBytesConfig", "load_in_4bits:2")
    ],
    "from transformers import GenerationConfig\nGenerationConfig(temprature=1)": [
        ("transformers.GenerationConfig", "temprature:2")
    ],
    "from trl import SFTConfig\nSFTConfig(dataset_kwargs={'skip_prepare_datset': True})": [
        ("trl.SFTConfig", "dataset_kwargs:2[skip_prepare_datset:2]")
    ],
    "from transformers import AutoModelForCausalLM as M\n"
    "m = M.from_pretrained('x')\nm = m.to('cpu')\nm.generate(temprature=1)": [
        ("transformers.AutoModelForCausalLM.generate", "temprature:4")
    ],
    "from transformers import AutoModelForCausalLM as M\nm = M.from_pretrained('x')\nm(attention_maks=1)": [
        ("transformers.AutoModelForCausalLM.__call__", "attention_maks:3")
    ],
    "from transformers import AutoTokenizer as A\nt = A.from_pretrained('x')\nt('a', truncaton=True, max_lenght=1)": [
        ("transformers.AutoTokenizer.__call__", "truncaton:3 max_lenght:3")
    ],
    "from transformers import AutoTokenizer as A\n"
    "t = A.from_pretrained('x')\nt.apply_chat_template([], enable_thinkng=1)": [
        ("transformers.PreTrainedTokenizerBase.apply_chat_template", "enable_thinkng:3")
    ],
    "from transformers import Trainer\nt = Trainer(tokenizer=1)\nt.train(resume_from=1)": [
        ("transformers.Trainer", "tokenizer:2"),
        ("transformers.Trainer.train", "resume_from:3"),
    ],
    "from datasets import load_dataset\nd = load_dataset('x', split='train')\nd.map(len, num_procs=1)": [
        ("datasets.load_dataset", "split:2"),
        ("datasets.Dataset.map", "num_procs:3"),
    ],
    "from datasets import load_dataset\nd = load_dataset('x')\nd['train'].map(len, num_procs=1)": [
        ("datasets.Dataset.map", "num_procs:3")
    ],
    "from datasets import load_dataset\n"
    "d = load_dataset('x', split='train', streaming=True)\nd.map(len, num_procs=1)": [
        ("datasets.load_dataset", "split:2 streaming:2")
    ],
    "from torch.utils.data import DataLoader\nDataLoader([], batchsize=1)": [
        ("torch.utils.data.DataLoader", "batchsize:2")
    ],
}


@pytest.mark.parametrize("text", CALLEES)
def test_the_callee_is_the_one_that_the_file_imports(text: str, tmp_path: Path) -> None:
    assert sure(project(tmp_path, train=f"{text}\n")) == CALLEES[text]


def test_the_call_shapes_of_the_table_in_one_file(tmp_path: Path) -> None:
    """The rows as they were measured: what no type checker saw is here too."""
    text = HEAD + (
        "from trl import SFTConfig\n"
        "a3 = TrainingArguments(output_dir='o', lerning_rate=1e-4)\n"
        "s2 = SFTConfig(output_dir='o', dataset_kwargs={'skip_prepare_datset': True})\n"
        "KW = {'output_dir': 'o', 'warmup_ratio': 0.03, 'evaluation_strategy': 'steps'}\n"
        "a5 = TrainingArguments(**KW)\n"
        "def build(cfg: dict):\n    return TrainingArguments(**cfg)\n"
        "a7 = build({'output_dir': 'o', 'lerning_rate': 1e-4})\n"
    )
    reading = project(tmp_path, train=text)
    assert sure(reading) == [
        (T, "output_dir:3 lerning_rate:3"),
        ("trl.SFTConfig", "output_dir:4 dataset_kwargs:4[skip_prepare_datset:4]"),
        (T, "output_dir:5 warmup_ratio:5 evaluation_strategy:5"),
        (T, "output_dir:9 lerning_rate:9"),
    ]
    assert reading.requests[3].via == "build() called in train.py:9"
    assert reading.requests[3].line == 8
    assert [one.value for one in reading.requests[0].given] == ["'o'", "0.0001"]


NO_ANSWER = {
    "what a file says": "import yaml\nTrainingArguments(**yaml.safe_load(open('x')))\n",
    "a parameter that nobody gives": "def build(cfg):\n    return TrainingArguments(**cfg)\n",
    "a comprehension": "d = {'lerning_rate': 1}\nTrainingArguments(**{k: v for k, v in d.items() if v})\n",
    "a value": "KEY = open('x').read()\nTrainingArguments(**{KEY: 1})\n",
    "an attribute": "class A:\n    def f(self):\n        TrainingArguments(**self.kw)\n",
    "a star import": "from trl import *\nSFTConfig(lerning_rate=1)\n",
}


@pytest.mark.parametrize("shape", NO_ANSWER)
def test_where_the_text_has_no_answer_none_is_given(shape: str, tmp_path: Path) -> None:
    requests = project(tmp_path, train=HEAD + NO_ANSWER[shape]).requests
    assert all(one.is_open and not one.given for one in requests)


BARE = {
    "TrainingArguments()": [(T, 0, False)],
    "TrainingArguments('out')": [(T, 1, False)],
    "TrainingArguments(*open('x'))": [(T, 0, True)],
    "def f(**kw):\n    TrainingArguments(**kw)": [(T, 0, True)],
    "from transformers import AutoModelForCausalLM as M\nM.from_pretrained('x')": [
        ("transformers.AutoModelForCausalLM.from_pretrained", 1, False)
    ],
    "import torch\ntorch.zeros(3)\ntorch.load('x')": [("torch.load", 1, False)],
    "from functools import partial\npartial(TrainingArguments)": [(T, 0, True)],
}


@pytest.mark.parametrize("text", BARE)
def test_a_call_without_names_is_a_request(text: str, tmp_path: Path) -> None:
    reading = project(tmp_path, train=f"{HEAD}{text}\n")
    assert (bare(reading), sure(reading)) == (BARE[text], [])


def test_a_call_that_is_given_names_on_one_way_is_one_request(tmp_path: Path) -> None:
    text = "def f(**kw):\n    return TrainingArguments(**kw)\nf(seed=1)\n"
    reading = project(tmp_path, train=HEAD + text)
    (request,) = reading.requests
    assert ([one.name for one in request.given], request.is_open) == (["seed"], True)
    assert request.via == "f() called in train.py:4"


WHOLE = (
    "d = {'seed': 1}",
    "d = dict(seed=1)",
    "d = {**{'seed': 1}}",
    "d = {'seed': 1} | {'fp16': 1}",
    "d = {'seed': 1}\nd['fp16'] = 1",
    "d = {'seed': 1}\nd.update(fp16=1)\nd.update({'fp16': 2})\nd.update([('bf16', 1)])",
    "d = {'seed': 1}\nd.setdefault('fp16', 1)\nprint(d, d.get('x'))",
    "import copy\nd = copy.copy({'seed': 1}).copy()",
    "d = {'seed': 1}\nif len('x'):\n    d['fp16'] = 1",
)
OPEN = (
    "d = {'seed': 1, **open('x')}",
    "d = {'seed': 1, open('x'): 1}",
    "d = dict(open('x'), seed=1)",
    "d = dict([('seed', 1), open('x')])",
    "d = {'seed': 1} | open('x')",
    "d = {'seed': 1}\nd |= open('x')",
    "d = {'seed': 1}\nd[open('x')] = 1",
    "d = {'seed': 1}\nd.update(open('x'))",
    "d = {'seed': 1}\nd.update(**open('x'))",
    "d = {'seed': 1}\nd.setdefault(open('x'), 1)",
    "d = {'seed': 1, 'fp16': 1}\nif len('x'):\n    d.pop('fp16')",
    "d = {}\nchange(d)\nd['seed'] = 1",
    "d = {'seed': 1, 'fp16': 1}\nif len('x'):\n    del d['fp16']\nd = d.copy()",
)


@pytest.mark.parametrize("text", WHOLE)
def test_a_mapping_that_is_wholly_known_hides_nothing(text: str, tmp_path: Path) -> None:
    (request,) = project(tmp_path, train=f"{HEAD}{text}\nTrainingArguments(**d)\n").requests
    assert not request.is_open and request.given[0].name == "seed"


@pytest.mark.parametrize("text", OPEN)
def test_a_mapping_that_may_hold_more_is_said_to(text: str, tmp_path: Path) -> None:
    (request,) = project(tmp_path, train=f"{HEAD}{text}\nTrainingArguments(**d)\n").requests
    assert request.is_open and [one.name for one in request.given] == ["seed"]


@pytest.mark.parametrize(("value", "is_open"), [("{'a': 1}", False), ("{'a': 1, **open('x')}", True)])
def test_a_mapping_as_a_value_says_whether_it_is_whole(value: str, is_open: bool, tmp_path: Path) -> None:
    (request,) = project(tmp_path, train=f"{HEAD}TrainingArguments(optim_args={value})\n").requests
    assert not request.is_open
    assert [one.is_open for one in request.given] == [is_open]
