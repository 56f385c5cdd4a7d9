"""Names that come from other files of the project, and the files that are never opened as a tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from script_world import project, sure

from affidavit.lint.scripts import read_scripts

T = "transformers.TrainingArguments"
HEAD = "from transformers import TrainingArguments\n"


@pytest.mark.parametrize(
    "use",
    [
        "from common import KW\nTrainingArguments(**KW)\n",
        "from common import KW as K\nTrainingArguments(**K)\n",
        "import common\nTrainingArguments(**common.KW)\n",
        "import common as c\nTrainingArguments(**c.KW)\n",
        "from common import *\nTrainingArguments(**KW)\n",
        "from common import make\nTrainingArguments(**make())\n",
        "def f():\n    from common import KW\n    TrainingArguments(**KW)\n",
        "from common import Holder\nTrainingArguments(**Holder.KW)\n",
    ],
)
def test_a_constant_of_another_module(use: str, tmp_path: Path) -> None:
    common = "KW = {'lerning_rate': 1}\ndef make():\n    return dict(KW)\nclass Holder:\n    KW = KW\n"
    if "Holder" in use:
        common = "from dataclasses import dataclass\n" + common
    (reading,) = sure(project(tmp_path, train=HEAD + use, common=common))
    assert reading == (T, f"lerning_rate:{2 if 'Holder' in use else 1}")


def test_packages_relative_and_through_another(tmp_path: Path) -> None:
    reading = project(
        tmp_path,
        pkg__="from .base import KW\n",
        pkg__base="KW = {'lerning_rate': 1}\n",
        pkg__train=HEAD
        + "from . import KW\nfrom .base import KW as B\nTrainingArguments(**KW)\nTrainingArguments(**B)\n",
        main="from transformers import TrainingArguments\nfrom pkg import KW\nTrainingArguments(**KW)\n",
    )
    assert sure(reading) == [(T, "lerning_rate:1")] * 3
    assert {one.path.name for request in reading.requests for one in request.given} == {"base.py"}


def test_a_class_that_another_module_imports(tmp_path: Path) -> None:
    reading = project(
        tmp_path,
        compat=HEAD,
        again="from compat import TrainingArguments as TA\n",
        train="from compat import TrainingArguments\nTrainingArguments(lerning_rate=1)\n",
        other="from again import TA\n\nTA(lerning_rate=1)\n",
    )
    assert sure(reading) == [(T, "lerning_rate:3"), (T, "lerning_rate:2")]


def test_a_builder_in_another_module_is_followed_from_a_file_that_watches_nothing(tmp_path: Path) -> None:
    reading = project(
        tmp_path,
        build=HEAD + "def build(cfg):\n    return TrainingArguments(**cfg)\n",
        run="from build import build\nbuild({'lerning_rate': 1})\n",
    )
    assert sure(reading) == [(T, "lerning_rate:2")]
    (request,) = reading.requests
    assert (request.path.name, request.line, request.given[0].path.name) == ("build.py", 3, "run.py")


def test_a_project_that_bears_the_name_of_a_package_is_itself(tmp_path: Path) -> None:
    reading = project(
        tmp_path,
        datasets__="def load_dataset(path, *, odd):\n    return path\n",
        train="from datasets import load_dataset\nload_dataset('x', odd=1)\n",
    )
    assert reading.requests == ()


def test_what_watches_nothing_is_not_parsed(tmp_path: Path) -> None:
    reading = project(tmp_path, broken="def (:\n", train=HEAD + "TrainingArguments(seed=1)\n")
    assert reading.unread == ()
    assert reading.files == 2


@pytest.mark.parametrize(
    "raw",
    [
        b"from transformers import Trainer\nTrainer(a=1)\ndef (:\n",
        b"from transformers import Trainer\nTrainer(a=1)\n\x00",
        b"# coding: no-such-coding\nfrom transformers import Trainer\nTrainer(a=1)\n",
        b"from transformers import Trainer\nTrainer(a='\xff\xfe')\n",
        b"from transformers import Trainer\nTrainer(a=" + b"(" * 5000 + b")" * 5000 + b")\n",
    ],
)
def test_a_file_that_cannot_be_read_is_said(raw: bytes, tmp_path: Path) -> None:
    path, good = tmp_path / "bad.py", tmp_path / "good.py"
    path.write_bytes(raw)
    good.write_text(HEAD + "TrainingArguments(seed=1)\n")
    reading = read_scripts([path, good], tmp_path)
    assert [one.path for one in reading.unread] == [path]
    assert sure(reading) == [(T, "seed:2")]


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    (one,) = read_scripts([tmp_path / "gone.py"], tmp_path).unread
    assert (one.path.name, "No such file" in one.why) == ("gone.py", True)


def test_nesting_that_is_parsed_and_not_followed_is_said(tmp_path: Path) -> None:
    deep = "1" + "+1" * 3000
    reading = project(tmp_path, train=HEAD + f"x = {deep}\nTrainingArguments(seed=1)\n")
    assert [one.path.name for one in reading.unread] == ["train.py"]


def test_modules_that_import_one_another_come_to_an_end(tmp_path: Path) -> None:
    reading = project(
        tmp_path,
        a="from b import KW\nfrom transformers import TrainingArguments\nX = {'seed': 1}\nTrainingArguments(**KW)\n",
        b="from a import X\nKW = {**X, 'lerning_rate': 1}\n",
    )
    assert [names for _, names in sure(reading)] == ["lerning_rate:2"]


def test_functions_that_call_one_another_come_to_an_end(tmp_path: Path) -> None:
    text = HEAD + "def a(d):\n    return b(d)\ndef b(d):\n    a(d)\n    return TrainingArguments(**d)\na({'seed': 1})\n"
    reading = project(tmp_path, train=text)
    assert (sure(reading), reading.unread, reading.files) == ([], (), 1), "nothing is sure of a call in a circle"


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("from transformers import (\n", True),
        ("import trl\n\n\ndef f(x: trl.SFTConfig)\n", True),
        ("from transformers import Trainer\n<<<<<<< ours\n", True),
        ("def f(:\n", False),
    ],
)
def test_a_file_that_is_no_python_is_said_where_it_is_about_a_watched_package(
    tmp_path: Path, text: str, is_said: bool
) -> None:
    reading = project(tmp_path, train=text)
    assert [one.path.name for one in reading.unread] == ["train.py"] * is_said


def test_a_file_that_was_asked_for_is_parsed_whatever_it_is_about(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("def f(:\n")
    (unread,) = read_scripts([path], tmp_path, named=frozenset({path})).unread
    assert unread.line == 1 and "no Python" in unread.why
    path.write_text("x = 1\n")
    assert read_scripts([path], tmp_path, named=frozenset({path})).unread == ()
