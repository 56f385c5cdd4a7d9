"""Files of tools that are installed, here as text in a folder of packages: their schemas say what they take."""

from __future__ import annotations

from pathlib import Path

import pytest
from parsers_of_tests import installed

from affidavit.lint.catalogue import Catalogue
from affidavit.lint.configs import ConfigReading, read_configs
from affidavit.lint.configs.schema import schema_of
from affidavit.lint.diff import hold

ZERO = """
from typing import Optional
from pydantic import Field, model_validator
from ..config_utils import DeepSpeedConfigModel

class DeepSpeedZeroConfig(DeepSpeedConfigModel):
    stage: int = 0
    overlap_comm: Optional[bool] = None
    prefetch_bucket_size: int = Field(1, alias="stage3_prefetch_bucket_size")

    @model_validator(mode="before")
    def old(cls, values):
        values.pop("cpu_offload_old", None)
        return values
"""
FORBIDS = """
from pydantic import BaseModel, ConfigDict

class DeepSpeedConfigModel(BaseModel):
    model_config = ConfigDict(validate_default=True, extra="forbid")
    def __init__(self, strict=False, **data):
        super().__init__(**data)
"""
AXOLOTL = """
from pydantic import AliasChoices, BaseModel, Field
from axolotl.utils.schemas.model import Model

class AxolotlInputConfig(Model, BaseModel):
    model_config = {"populate_by_name": True}
    context_parallel_size: int | None = None
    fsdp_version: int | None = Field(None, validation_alias=AliasChoices("fsdp_version", "version"))
"""
MODEL = "from pydantic import BaseModel\nclass Model(BaseModel):\n    base_model: str\n    sequence_len: int = 1\n"
BODY = "base_model: x\nsequence_len: 8\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    for name, text in {
        "deepspeed/runtime/zero/config.py": ZERO,
        "deepspeed/runtime/config_utils.py": FORBIDS,
        "axolotl/utils/schemas/config.py": AXOLOTL,
        "axolotl/utils/schemas/model.py": MODEL,
    }.items():
        file = site / name
        file.parent.mkdir(parents=True, exist_ok=True)
        for folder in file.relative_to(site).parents:
            (site / folder / "__init__.py").touch()
        file.write_text(text)
    return site


def read(tmp_path: Path, text: str, *sites: Path, name: str = "c.yaml") -> ConfigReading:
    (tmp_path / name).write_text(text)
    return read_configs([tmp_path / name], [], installed(), tmp_path, sites=sites)


def refused(reading: ConfigReading) -> list[tuple[str, int, str]]:
    return [(given.name, given.line, near) for one in reading.parser_requests for given, near in one.unknown]


def test_zero_forbids_other_keys(tmp_path: Path, site: Path) -> None:
    text = '{"zero_optimization": {"stage": 3,\n"stage3_prefetch_bucket_size": 1,\n"overlap_com": true}}'
    assert refused(read(tmp_path, text, site, name="ds.json")) == [("overlap_com", 3, "overlap_comm")]
    assert refused(read(tmp_path, text.replace("overlap_com", "cpu_offload_old"), site, name="ds.json")) == []
    assert read(tmp_path, text, name="ds.json").parser_requests == ()


def test_axolotl_drops_a_key_that_is_like_one_of_its_own(tmp_path: Path, site: Path) -> None:
    (field,) = read(tmp_path, BODY + "context_parapllel_size: 2\n", site).fields
    assert (field.kind, field.name, field.line) == ("dropped", "context_parapllel_size", 3)
    assert field.said.endswith("did you mean context_parallel_size?")
    for quiet in (
        "context_parallel_size: 2",
        "version: 2",
        "liger_rope: true",
        "plugins: [a]\ncontext_paralel_size: 2",
    ):
        assert read(tmp_path, BODY + quiet + "\n", site).fields == ()
    assert read(tmp_path, BODY + "context_parapllel_size: 2\n").fields == ()


@pytest.mark.parametrize(
    "text",
    [
        "class A(Elsewhere):\n    x: int\n",
        "from gone import B\nclass A(B):\n    x: int\n",
        "class A(make()):\n    x: int\n",
        "class A(BaseModel):\n    model_config = {'extra': 'allow'}\n    x: int\n",
        "class A(BaseModel):\n    model_config = {**other}\n    x: int\n",
        "class A(BaseModel):\n    model_config = other\n    x: int\n",
        "class A(A):\n    x: int\n",
        "class A(\n",
    ],
)
def test_a_schema_that_is_not_whole_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.py").write_text(text)
    assert schema_of("m.A", [tmp_path]) is None


def test_a_base_may_come_through_another_module(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("from .a import A as B\n")
    (tmp_path / "pkg/a.py").write_text("class A(BaseModel):\n    class Config:\n        extra = 'forbid'\n    x: int\n")
    (tmp_path / "m.py").write_text("from pkg import B\nclass C(B):\n    y: int\n")
    schema = schema_of("m.C", [tmp_path])
    assert schema is not None and (schema.names, schema.forbids) == (frozenset({"x", "y"}), True)


def test_llama_factory_is_refused_what_was_removed(tmp_path: Path) -> None:
    package = tmp_path / "site/llamafactory/hparams"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    for name in ("model", "data", "training", "finetuning", "generating"):
        own = "    stage: str = 'sft'\n    finetuning_type: str = 'lora'\n    model_name_or_path: str = ''\n"
        text = f"from dataclasses import dataclass\n@dataclass\nclass {name.title()}Arguments:\n{own}"
        (package / f"{name}_args.py").write_text(text)
    catalogue = Catalogue([tmp_path / "site"], None)
    file = tmp_path / "c.yaml"
    file.write_text("stage: sft\nfinetuning_type: lora\nwarmup_ratio: 0.1\nuse_mcore_thing: 1\n")
    reading = read_configs([file], [], catalogue, tmp_path)
    assert [word.name for word in hold(reading.requests, catalogue).unknown] == ["warmup_ratio"]
    assert [request.guard == "" for request in reading.requests] == [True, False]


def test_a_schedule_of_deepspeed_takes_names(tmp_path: Path) -> None:
    folder = tmp_path / "site/deepspeed/runtime"
    folder.mkdir(parents=True)
    for one in (folder, folder.parent):
        (one / "__init__.py").touch()
    text = "class WarmupLR:\n    def __init__(self, optimizer, warmup_max_lr=0.001): ...\n"
    (folder / "lr_schedules.py").write_text(text)
    catalogue = Catalogue([tmp_path / "site"], None)
    file = tmp_path / "ds.json"
    file.write_text('{"bf16": {}, "zero_optimization": {}, "scheduler": {"type": "WarmupLR", "params": {"max_lr": 1}}}')
    reading = read_configs([file], [], catalogue, tmp_path)
    assert [word.name for word in hold(reading.requests, catalogue).unknown] == ["max_lr"]
