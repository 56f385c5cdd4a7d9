"""Requests held against what is installed: three answers, nested mappings, guards, unions, missing packages."""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

from affidavit.lint.catalogue import Catalogue
from affidavit.lint.diff import Held, hold
from affidavit.lint.request import Given, Request
from affidavit.lint.scripts import read_scripts
from affidavit.lint.union import short

FILE = Path("train.py")
SITE = Path(sysconfig.get_paths()["purelib"])


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return Catalogue([SITE], tmp_path_factory.mktemp("signatures"))


def asked(callee: str, *names: str, guard: str = "", inside: Sequence[str] = ()) -> Request:
    nested = tuple(Given(name=name, path=FILE, line=9) for name in inside)
    given = tuple(Given(name=name, path=FILE, line=line, inside=nested) for line, name in enumerate(names, 1))
    return Request(callee=callee, given=given, path=FILE, line=1, guard=guard)


def names(held: Held) -> tuple[list[str], list[str], list[str]]:
    return [one.name for one in held.unknown], [one.name for one in held.doubted], [one.name for one in held.noted]


@pytest.mark.parametrize(
    ("request_", "unknown", "doubted"),
    [
        (asked("transformers.TrainingArguments", "output_dir", "warmup_ratio"), ["warmup_ratio"], []),
        (asked("transformers.TrainingArguments", "output_dir", "warmup_steps"), [], []),
        (asked("trl.SFTConfig", "max_seq_length"), ["max_seq_length"], []),
        (asked("trl.SFTConfig", "max_length"), [], []),
        (asked("peft.LoraConfig", "lora_aplha"), ["lora_aplha"], []),
        (asked("transformers.AutoModelForCausalLM.from_pretrained", "attn_implementaton"), [], ["attn_implementaton"]),
        (asked("transformers.AutoModelForCausalLM.from_pretrained", "attn_implementation", "dtype"), [], []),
        (asked("transformers.AutoTokenizer.from_pretrained", "padding_sid"), [], ["padding_sid"]),
        (asked("transformers.GenerationConfig", "temprature"), [], ["temprature"]),
        (asked("transformers.BitsAndBytesConfig", "load_in_4bits"), [], ["load_in_4bits"]),
        (asked("transformers.BitsAndBytesConfig", "load_in_4bit"), [], []),
    ],
)
def test_a_name_is_known_refused_or_swallowed(
    installed: Catalogue, request_: Request, unknown: list[str], doubted: list[str]
) -> None:
    held = hold([request_], installed)
    assert names(held)[:2] == (unknown, doubted)
    assert held.examined["script"] == len(request_.given)


def test_a_name_that_is_dropped_with_a_warning_is_noted_and_not_refused(installed: Catalogue) -> None:
    """Each of these calls runs, as they were tried on huggingface_hub 2.4.0."""
    old = ("proxies", "resume_download", "force_filename", "local_dir_use_symlinks")
    for callee in ("huggingface_hub.hf_hub_download", "huggingface_hub.snapshot_download"):
        held = hold([asked(callee, "revision", *old)], installed)
        assert names(held) == ([], [], list(old)) and "ignored" in held.noted[0].said
    assert names(hold([asked("huggingface_hub.hf_hub_download", "revison")], installed))[0] == ["revison"]


def test_a_call_without_names_is_not_counted(installed: Catalogue) -> None:
    held = hold([asked("trl.SFTConfig"), asked("absent.Thing"), asked("trl.SFTConfig", "max_length")], installed)
    assert (held.calls, held.examined, held.unread) == (1, {"script": 1}, [])


def test_what_is_said_names_the_successor_or_the_nearest(installed: Catalogue) -> None:
    held = hold([asked("transformers.TrainingArguments", "warmup_ratio", "lerning_rate")], installed)
    gone, misspelt = held.unknown
    assert "warmup_steps" in gone.said
    assert misspelt.said == "no such name in transformers 5.24.0; did you mean learning_rate?"


def test_a_guarded_request_is_counted_and_not_judged(installed: Catalogue) -> None:
    held = hold([asked("transformers.TrainingArguments", "warmup_ratio", guard="inside except TypeError")], installed)
    assert names(held) == ([], [], []) and held.examined.total() == 1


def test_a_nested_mapping_is_held_against_its_own_target(installed: Catalogue) -> None:
    right = asked("trl.SFTConfig", "model_init_kwargs", inside=["attn_implementation"])
    wrong = asked("trl.SFTConfig", "model_init_kwargs", inside=["attn_implementaton"])
    assert names(hold([right], installed)) == ([], [], [])
    held = hold([wrong], installed)
    assert names(held) == ([], ["attn_implementaton"], []) and "model_init_kwargs of SFTConfig" in held.doubted[0].said
    assert held.examined.total() == 2


SFT = "from trl import SFTConfig\n"
DROPPED = {
    "SFTConfig(dataset_kwargs={'skip_prepare_datset': True})": ([], ["skip_prepare_datset"]),
    "SFTConfig(dataset_kwargs={'skip_prepare_dataset': True})": ([], []),
    "SFTConfig(fsdp_config={'transformer_layer_cls_to_warp': ['A']})": ([], ["transformer_layer_cls_to_warp"]),
    "SFTConfig(fsdp_config={'transformer_layer_cls_to_wrap': ['A'], 'fsdp_min_num_params': 1, 'xla': True})": ([], []),
    "SFTConfig(lr_scheduler_type='cosine_with_min_lr', lr_scheduler_kwargs={'min_lr': 1e-6})": ([], []),
    "SFTConfig(lr_scheduler_type='cosine_with_min_lr', lr_scheduler_kwargs={'min_lrr': 1e-6})": (["min_lrr"], []),
    "SFTConfig(lr_scheduler_kwargs={'min_lr': 1e-6})": (["min_lr"], []),
    "SFTConfig(lr_scheduler_type=open('x'), lr_scheduler_kwargs={'min_lr': 1e-6})": ([], []),
    "SFTConfig(lr_scheduler_kwargs={'min_lr': 1e-6}, **open('x'))": ([], []),
    "try:\n    SFTConfig(dataset_kwargs={'skip_prepare_datset': True})\nexcept TypeError:\n    pass": ([], []),
}


@pytest.mark.parametrize("text", DROPPED)
def test_keys_that_are_read_one_by_one_or_go_where_others_choose(
    installed: Catalogue, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{SFT}{text}\n")
    held = hold(read_scripts([path], tmp_path).requests, installed)
    assert names(held)[:2] == DROPPED[text]


@pytest.mark.parametrize(("given", "unknown"), [(("lr_scheduler_type",), ["min_lrr"]), ((), [])])
def test_what_a_config_leaves_out_another_may_say(
    installed: Catalogue, given: tuple[str, ...], unknown: list[str]
) -> None:
    kind = tuple(Given(name=name, path=FILE, line=1, value="cosine_with_min_lr") for name in given)
    inside = (Given(name="min_lrr", path=FILE, line=3, value="1e-6"),)
    mapping = Given(name="lr_scheduler_kwargs", path=FILE, line=2, inside=inside)
    request = Request(callee="trl.SFTConfig", given=(*kind, mapping), path=FILE, line=1, origin="config")
    assert names(hold([request], installed))[0] == unknown


def test_a_name_of_any_of_several_callees_is_known(installed: Catalogue) -> None:
    both = "trl.ScriptArguments + trl.SFTConfig + trl.ModelConfig"
    held = hold([asked(both, "dataset_name", "learning_rate", "model_name_or_path", "warmup_ratio")], installed)
    assert names(held) == (["warmup_ratio"], [], [])
    assert held.packages == {"trl 1.16.0"}


def test_a_package_that_is_missing_is_said_once_and_judges_nothing(installed: Catalogue) -> None:
    held = hold([asked("nosuchpackage.Trainer", "a", "b"), asked("nosuchpackage.fit", "c")], installed)
    assert names(held) == ([], [], []) and held.examined.total() == 0
    (unread,) = held.unread
    assert unread.path == FILE and "nosuchpackage" in unread.why and "3 names are not judged" in unread.why


def test_a_callable_that_is_not_found_in_a_package_that_is_there_is_no_finding(installed: Catalogue) -> None:
    held = hold([asked("transformers.NoSuchThing", "a")], installed)
    assert held == Held()


@pytest.mark.parametrize(
    ("callee", "said"),
    [
        ("transformers.TrainingArguments", "TrainingArguments"),
        ("transformers.AutoModel.from_pretrained", "AutoModel.from_pretrained"),
        ("datasets.load_dataset", "load_dataset"),
        ("train", "train"),
        ("trl.ModelConfig + trl.SFTConfig", "ModelConfig or SFTConfig"),
    ],
)
def test_a_callee_is_written_as_a_person_writes_it(callee: str, said: str) -> None:
    assert short(callee) == said
