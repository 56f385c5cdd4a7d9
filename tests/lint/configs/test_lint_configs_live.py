"""Every row of the parsers' table: what the real parser does, and what is said of the same file before it does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from parsers_of_tests import installed, parser

from affidavit.lint.configs import ConfigReading, Named, read_configs
from affidavit.lint.diff import hold
from affidavit.lint.scripts.reading import Parser

OWN = {"rate": "float", "steps": "int", "packed": "bool", "schedule": "dict | None"}
TRL = {"kind": "TrlParser", "methods": ("parse_args_and_config",)}


@pytest.fixture(scope="module")
def live() -> dict[str, str]:
    script = Path(__file__).with_name("live_parsers.py")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def own(tmp_path: Path, **more: object) -> Parser:
    return parser(tmp_path / "train.py", classes=(), own=OWN, **more)  # type: ignore[arg-type]


def arguments(tmp_path: Path, **more: object) -> Parser:
    return parser(tmp_path / "train.py", **more)  # type: ignore[arg-type]


def read(tmp_path: Path, made: Parser | None, text: str, *, name: str = "c.yaml", tool: str = "") -> ConfigReading:
    """Return what is said of a file that a launcher hands to this parser, or to this tool."""
    file = tmp_path / name
    file.write_text(text)
    named = Named(file=file, parsers=(made,) if made else (), tool=tool, via="go.sh:1")
    return read_configs([file], [made] if made else [], installed(), tmp_path, named=[named])


def refused(reading: ConfigReading) -> list[str]:
    held = hold(reading.requests, installed())
    mine = [given.name for request in reading.parser_requests for given, _ in request.unknown]
    return [word.name for word in held.unknown] + mine


def kinds(reading: ConfigReading) -> list[tuple[str, str]]:
    return [(field.kind, field.name) for field in reading.fields]


def is_quiet(reading: ConfigReading) -> bool:
    return not refused(reading) and not reading.fields and not reading.unread


@pytest.mark.parametrize("row", ["yaml unknown", "json unknown", "trl unknown"])
def test_an_unknown_key_raises_and_is_refused(live: dict[str, str], tmp_path: Path, row: str) -> None:
    is_json, is_trl = row.startswith("json"), row.startswith("trl")
    made = own(tmp_path, **TRL) if is_trl else own(tmp_path, methods=("parse_yaml_file", "parse_json_file"))
    name = "c.json" if is_json else "c.yaml"
    wrong, right = ('{"rte": 0.2}', '{"rate": 0.2}') if is_json else ("rte: 0.2\n", "rate: 0.2\n")
    assert "ValueError" in live[row]
    assert refused(read(tmp_path, made, wrong, name=name)) == ["rte"]
    assert is_quiet(read(tmp_path, made, right, name=name))


@pytest.mark.parametrize(
    ("row", "lenient", "kind"),
    [("yaml allowed", "allow_extra_keys=True", {}), ("trl dropped", "fail_with_unknown_args=False", TRL)],
)
def test_a_lenient_parser_drops_it_without_a_word(
    live: dict[str, str], tmp_path: Path, row: str, lenient: str, kind: dict[str, object]
) -> None:
    made = own(tmp_path, lenient=lenient, **kind)
    assert live[row] == "(Own(rate=0.1, steps=1, packed=True, schedule=None),)"
    found = read(tmp_path, made, "rte: 0.2\n")
    assert kinds(found) == [("dropped", "rte")]
    assert "did you mean rate?" in found.fields[0].said
    assert not refused(found)
    assert is_quiet(read(tmp_path, made, "rate: 0.2\n"))


def test_the_environment_block_is_no_unknown_key(live: dict[str, str], tmp_path: Path) -> None:
    assert live["trl env"] == "'1'"
    assert is_quiet(read(tmp_path, own(tmp_path, **TRL), "env:\n  A: 1\nrate: 0.2\n"))
    assert refused(read(tmp_path, own(tmp_path), "env:\n  A: 1\nrate: 0.2\n")) == ["env"]


def test_a_number_that_stays_text_is_told_where_it_stays_text(live: dict[str, str], tmp_path: Path) -> None:
    text = "output_dir: x\nlearning_rate: 3e-4\n"
    assert live["yaml text"] == "'3e-4'"
    found = read(tmp_path, arguments(tmp_path), text)
    assert kinds(found) == [("text", "learning_rate")]
    assert "write 3.0e-4" in found.fields[0].said
    assert live["yaml number"] == "0.0003"
    assert is_quiet(read(tmp_path, arguments(tmp_path), text.replace("3e-4", "3.0e-4")))


def test_a_quoted_number_is_text_as_well(live: dict[str, str], tmp_path: Path) -> None:
    assert "TypeError" in live["yaml quoted"]
    assert kinds(read(tmp_path, arguments(tmp_path), 'output_dir: x\nwarmup_steps: "0.1"\n')) == [
        ("text", "warmup_steps")
    ]
    assert is_quiet(read(tmp_path, arguments(tmp_path), "output_dir: '3e-4'\nwarmup_steps: 0.1\n"))


def test_argparse_makes_a_number_of_it(live: dict[str, str], tmp_path: Path) -> None:
    assert "rate=0.0003" in live["trl text"]
    assert is_quiet(read(tmp_path, own(tmp_path, **TRL), "rate: 3e-4\n"))


def test_nobody_converts_what_a_mapping_holds(live: dict[str, str], tmp_path: Path) -> None:
    text = "lr_scheduler_type: cosine_with_min_lr\nlr_scheduler_kwargs:\n  min_lr: 1e-6\n"
    made = parser(tmp_path / "train.py", classes=("trl.SFTConfig",), **TRL)  # type: ignore[arg-type]
    assert live["trl nested text"] == "{'min_lr': '1e-6'}"
    assert kinds(read(tmp_path, made, text)) == [("text", "min_lr")]
    assert is_quiet(read(tmp_path, made, text.replace("1e-6", "1.0e-6")))


def test_of_a_key_that_stands_twice_the_last_one_wins(live: dict[str, str], tmp_path: Path) -> None:
    assert "rate=0.3" in live["yaml twice"]
    found = read(tmp_path, own(tmp_path), "rate: 0.2\nrate: 0.3\n")
    assert kinds(found) == [("twice", "rate")]
    assert (found.fields[0].line, found.fields[0].said) == (1, "stands twice: 0.2 here is lost, 0.3 in line 2 wins")
    assert is_quiet(read(tmp_path, own(tmp_path), "rate: 0.2\nsteps: 3\n"))


def test_a_removed_name_is_refused_with_what_became_of_it(live: dict[str, str], tmp_path: Path) -> None:
    assert "warmup_ratio" in live["yaml removed"]
    found = read(tmp_path, arguments(tmp_path), "output_dir: x\nwarmup_ratio: 0.1\n")
    (word,) = hold(found.requests, installed()).unknown
    assert (word.name, word.line) == ("warmup_ratio", 2)
    assert "train.py:1" in word.said
    assert is_quiet(read(tmp_path, arguments(tmp_path), "output_dir: x\nwarmup_steps: 0.1\n"))


def test_the_trl_program_hands_on_what_it_does_not_take(live: dict[str, str], tmp_path: Path) -> None:
    wrong = "learning_rate: 3e-4\nmax_length: 128\nnum_processes: 2\nwarmup_ratio: 0.1\n"
    assert live["launch"].startswith("SystemExit: 2")
    assert live["launch short"].startswith("SystemExit: 2")
    assert refused(read(tmp_path, None, wrong, tool="trl sft")) == ["warmup_ratio"]
    assert is_quiet(read(tmp_path, None, wrong.replace("warmup_ratio", "warmup_steps"), tool="trl sft"))


def test_a_row_of_a_mixture_has_names_of_its_own(live: dict[str, str], tmp_path: Path) -> None:
    text = "max_length: 128\ndatasets:\n  - path: x\n    split: train\n  - path: y\n    splt: train\n"
    assert "splt" in live["mixture row"]
    found = read(tmp_path, None, text, tool="trl sft")
    (word,) = hold(found.requests, installed()).unknown
    assert word.name == "splt"
    assert is_quiet(read(tmp_path, None, text.replace("splt", "split"), tool="trl sft"))


def test_a_key_that_accelerate_refuses(live: dict[str, str], tmp_path: Path) -> None:
    text = "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nfp16: false\nnum_proceses: 2\n"
    assert "num_proceses" in live["cluster"]
    file = tmp_path / "a.yaml"
    file.write_text(text)
    assert refused(read_configs([file], [], installed(), tmp_path)) == ["num_proceses"]
    file.write_text(text.replace("num_proceses", "num_processes"))
    assert is_quiet(read_configs([file], [], installed(), tmp_path))
