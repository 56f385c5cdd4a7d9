"""Who reads a config, where nothing names it: likeness says what was removed, and refuses nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from parsers_of_tests import installed, parser

from affidavit.lint.configs import ConfigReading, read_configs
from affidavit.lint.diff import hold
from affidavit.lint.scripts.reading import Parser

BODY = "output_dir: x\nlearning_rate: 1.0e-4\nnum_train_epochs: 1\nsave_steps: 10\nlogging_steps: 5\n"


def read(tmp_path: Path, text: str, *parsers: Parser, name: str = "sft.yaml", **more: object) -> ConfigReading:
    (tmp_path / name).write_text(text)
    return read_configs([tmp_path / name], parsers, installed(), tmp_path, **more)  # type: ignore[arg-type]


def unknown(reading: ConfigReading) -> list[str]:
    return [word.name for word in hold(reading.requests, installed()).unknown]


def test_a_removed_name_is_refused_in_a_file_like_the_parser(tmp_path: Path) -> None:
    made = parser(tmp_path / "train.py")
    assert unknown(read(tmp_path, BODY + "warmup_ratio: 0.1\n", made)) == ["warmup_ratio"]
    assert unknown(read(tmp_path, BODY + "warmup_steps: 0.1\n", made)) == []


def test_a_misspelling_is_refused_where_the_project_has_one_reader(tmp_path: Path) -> None:
    text = BODY + "max_steps: 3\nnum_trian_epochs: 2\n"
    made = parser(tmp_path / "train.py")
    other = parser(tmp_path / "other.py", classes=("trl.ModelConfig",))
    assert unknown(read(tmp_path, text, made)) == ["num_trian_epochs"]
    assert unknown(read(tmp_path, text, made, other)) == []


def test_a_key_of_another_reader_is_not_refused(tmp_path: Path) -> None:
    text = BODY + "beta: 0.1\nwandb_project: mine\nmax_length: 10\n"
    reading = read(tmp_path, text, parser(tmp_path / "train.py"))
    assert unknown(reading) == []
    assert any(request.guard for request in reading.requests)


def test_a_name_that_the_project_reads_is_not_refused(tmp_path: Path) -> None:
    made = parser(tmp_path / "train.py")
    reading = read(tmp_path, BODY + "warmup_ratio: 0.1\n", made, read_names=frozenset({"warmup_ratio"}))
    assert unknown(reading) == []


def test_without_a_reader_nothing_is_refused_and_a_number_is_doubted(tmp_path: Path) -> None:
    reading = read(tmp_path, BODY.replace("1.0e-4", "1e-4") + "warmup_ratio: 0.1\n")
    assert unknown(reading) == [] and not reading.fields
    assert [request.guard for request in reading.requests] == ["nothing names the reader of this file"]
    assert [(field.name, field.kind) for field in reading.doubtful] == [("learning_rate", "text")]
    assert reading.fields_examined == 6


def test_first_party_fields_need_no_catalogue(tmp_path: Path) -> None:
    made = parser(tmp_path / "train.py", own={"corpus": "str", "ratio": "float"}, file="sft.yaml")
    reading = read(tmp_path, BODY + "corpus: a\nratio: 0.1\nreport_to: none\nfoo_bar: 1\n", made)
    assert unknown(reading) == ["foo_bar"]
    (mine,) = reading.parser_requests
    assert [one.name for one in mine.given] == ["corpus", "ratio"] and mine.unknown == ()


def test_what_is_open_is_guarded(tmp_path: Path) -> None:
    made = parser(tmp_path / "train.py", file="sft.yaml", why_open="a target that is not known")
    reading = read(tmp_path, BODY + "foo_bar: 1\n", made)
    assert unknown(reading) == [] and [request.guard for request in reading.requests] == ["a target that is not known"]


def test_a_rest_that_somebody_asks_for_is_no_proof(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("*args, rest = parser.parse_args_and_config(return_remaining_strings=True)\n")
    made = parser(tmp_path / "train.py", kind="TrlParser", methods=("parse_args_and_config",), file="sft.yaml")
    assert unknown(read(tmp_path, BODY + "foo_bar: 1\n", made)) == []


def test_a_dropped_key_that_the_project_reads_is_not_told(tmp_path: Path) -> None:
    made = parser(tmp_path / "train.py", file="sft.yaml", lenient="allow_extra_keys=True")
    text = BODY + "foo_bar: 1\n"
    assert [field.name for field in read(tmp_path, text, made).fields] == ["foo_bar"]
    assert read(tmp_path, text, made, read_names=frozenset({"foo_bar"})).fields == ()


@pytest.mark.parametrize(
    "text", ["base_model: x\nsequence_len: 8\nlearning_rte: 1\n", "zero_optimization: {stag: 1}\n"]
)
def test_a_tool_that_is_not_installed_is_passed_over(tmp_path: Path, text: str) -> None:
    reading = read(tmp_path, text)
    assert reading.requests == () and reading.unread == ()


def test_a_broken_file_is_unread(tmp_path: Path) -> None:
    (unread,) = read(tmp_path, "a: [1\n").unread
    assert (unread.path, unread.line) == (tmp_path / "sft.yaml", 2)


def test_a_mapping_keeps_its_names(tmp_path: Path) -> None:
    text = "model_init_kwargs:\n  dtype: bfloat16\n  attn_implementaton: sdpa\nlearning_rate: 1.0e-4\nmax_length: 3\n"
    made = parser(tmp_path / "train.py", classes=("trl.SFTConfig",), file="sft.yaml")
    (request,) = read(tmp_path, text, made).requests
    assert [inner.name for inner in request.given[0].inside] == ["dtype", "attn_implementaton"]
    assert request.given[0].inside[1].line == 3


def test_the_name_of_a_script_in_the_path_says_which_one_reads_it(tmp_path: Path) -> None:
    sft = parser(tmp_path / "sft.py", classes=("trl.SFTConfig",))
    orpo = parser(tmp_path / "orpo.py", classes=("trl.ORPOConfigThatIsGone", "trl.SFTConfig"))
    for name in ("sft", "orpo", "other"):
        (tmp_path / name).mkdir()
    text = BODY + "warmup_ratio: 0.1\n"
    assert unknown(read(tmp_path, text, sft, orpo, name="sft/a.yaml")) == ["warmup_ratio"]
    assert unknown(read(tmp_path, text, sft, orpo, name="orpo/a.yaml")) == []
    assert unknown(read(tmp_path, text, sft, orpo, name="other/a.yaml")) == []
    assert unknown(read(tmp_path, text, sft, name="other/a.yaml")) == ["warmup_ratio"]
