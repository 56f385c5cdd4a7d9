"""Options of launchers, held against the parsers of their scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.lint.configs import read_configs
from affidavit.lint.diff import hold
from affidavit.lint.scripts.reading import Declared, Option, Parse, Parser, Target
from affidavit.lint.shell import LauncherReading, read_command, read_launchers
from affidavit.names.signature import Parameter, Rest, Signature

NAMES = ("learning_rate", "warmup_steps", "output_dir", "bf16")


class Installed:
    """A catalogue of one class."""

    def find(self, callee: str) -> object:
        if callee not in ("lib.Arguments", *(f"trl.{name}" for name in ("SFTConfig",)), "trl.Shared"):
            return None
        parameters = {name: Parameter(name=name) for name in NAMES}
        return Signature(callee=callee, package="lib 1", parameters=parameters, rest=Rest.CLOSED)


def argparse_of(folder: Path, *flags: str, lenient: str = "", method: str = "parse_args", text: str = "") -> Parser:
    script = folder / "train.py"
    script.write_text(text or "import argparse\n")
    options = tuple(Option(flags=(flag,), dest=flag[2:].replace("-", "_"), path=script, line=2) for flag in flags)
    parse = Parse(method=method, path=script, line=3)
    return Parser(path=script, line=1, kind="argparse", options=options, lenient=lenient, parses=(parse,))


def dataclasses_of(folder: Path, kind: str = "HfArgumentParser", **more: str) -> Parser:
    script = folder / "train.py"
    script.write_text("from transformers import HfArgumentParser\n")
    own = Declared(name="packed", path=script, line=2, annotation="bool")
    targets = (
        Target(name="train.Own", is_first_party=True, fields=(own,)),
        Target(name="lib.Arguments", is_first_party=False, bases=("lib.Arguments",)),
    )
    method = "parse_args_and_config" if kind == "TrlParser" else "parse_args_into_dataclasses"
    parse = Parse(method=method, path=script, line=3)
    return Parser(path=script, line=1, kind=kind, targets=targets, parses=(parse,), **more)


def read(folder: Path, text: str, *parsers: Parser) -> LauncherReading:
    (folder / "go.sh").write_text(text)
    return read_launchers([folder / "go.sh"], parsers, folder, Installed())


def refused(reading: LauncherReading) -> list[str]:
    installed = hold(reading.requests, Installed()).unknown  # type: ignore[arg-type]
    own = [given.name for request in reading.parser_requests for given, _ in request.unknown]
    return own + [word.name for word in installed]


@pytest.mark.parametrize(
    ("options", "unknown"),
    [
        ("--learning-rate 1 --learning_rate=1 --packed --no_packed --no-packed", []),
        ("--learn 1 --warmup 2 --no-pack", []),
        ("--help --local_rank 0", []),
        ("--learning_rte 1", ["learning_rte"]),
        ("--warmup_ratio=0.1 \\\n --bf16 True", ["warmup_ratio"]),
        ("--learning_rate 1 -- --foo", []),
        ("$EXTRA --x$Y", []),
    ],
)
def test_dataclass_options_are_held_against_their_fields(tmp_path: Path, options: str, unknown: list[str]) -> None:
    reading = read(tmp_path, f"torchrun --nproc_per_node 2 train.py {options}\n", dataclasses_of(tmp_path))
    assert refused(reading) == unknown and not reading.fields


def test_an_option_has_its_line_and_a_near_name(tmp_path: Path) -> None:
    reading = read(
        tmp_path, "python train.py \\\n --batch_size 1 \\\n --batch_sise 2\n", argparse_of(tmp_path, "--batch_size")
    )
    (request,) = reading.parser_requests
    ((given, near),) = request.unknown
    assert (given.name, given.line, near, request.callee) == ("batch_sise", 3, "batch_size", "train.py")


@pytest.mark.parametrize(
    ("options", "unknown"), [("--batch-size 1 --batch 2", []), ("--batch_size 1", ["--batch_size"]), ("--foo", ["foo"])]
)
def test_argparse_takes_what_is_written_and_what_it_abbreviates(
    tmp_path: Path, options: str, unknown: list[str]
) -> None:
    assert refused(read(tmp_path, f"python train.py {options}\n", argparse_of(tmp_path, "--batch-size"))) == unknown


def test_a_lenient_parser_drops_an_option(tmp_path: Path) -> None:
    lenient = "parse_known_args, whose rest is dropped"
    made = argparse_of(tmp_path, "--lr", "--epochs", lenient=lenient, method="parse_known_args")
    reading = read(tmp_path, "python train.py --lr 1 --epocs 2\n", made)
    assert [(field.kind, field.name) for field in reading.fields] == [("dropped", "epocs")]
    assert refused(reading) == []
    for quiet in ("--lr 1 --epochs 2", "--lr 1 --other 2", "--epocs 1 --other 2"):
        assert read(tmp_path, f"python train.py {quiet}\n", made).fields == ()
    (tmp_path / "next").mkdir()
    assert (
        read(tmp_path, "python train.py --lr 1 --epocs 2\n", made, argparse_of(tmp_path / "next", "--epocs")).fields
        == ()
    )


@pytest.mark.parametrize(
    "text",
    [
        "args, rest = parser.parse_known_args()",
        "if '--foo' in sys.argv: pass",
        "sys.argv = sys.argv[:1]",
        "parser.add_argument('rest', nargs=argparse.REMAINDER)",
    ],
)
def test_a_script_that_looks_at_its_own_options_is_no_proof(tmp_path: Path, text: str) -> None:
    reading = read(tmp_path, "python train.py --foo\n", argparse_of(tmp_path, "--lr", text=text))
    assert refused(reading) == [] and not reading.fields


def test_a_script_that_only_counts_its_options_is_one(tmp_path: Path) -> None:
    text = 'if len(sys.argv) == 2 and sys.argv[1].endswith(".json"):\n    pass\nparser.parse_args(sys.argv[1:])\n'
    assert refused(read(tmp_path, "python train.py --foo\n", argparse_of(tmp_path, "--lr", text=text))) == ["foo"]


def test_an_open_parser_is_no_proof(tmp_path: Path) -> None:
    assert (
        refused(read(tmp_path, "python train.py --foo\n", dataclasses_of(tmp_path, why_open="an option by name"))) == []
    )


def test_a_script_is_found_where_it_is_run_from(tmp_path: Path) -> None:
    inner = tmp_path / "pkg"
    inner.mkdir()
    made = argparse_of(inner, "--lr")
    for text in ("python pkg/train.py --foo", "cd pkg\npython train.py --foo", "python -m pkg.train --foo"):
        assert refused(read(tmp_path, text, made)) == ["foo"], text
    assert refused(read(tmp_path, "python train.py --foo", made)) == []


def test_two_files_of_one_name_are_no_proof(tmp_path: Path) -> None:
    inner = tmp_path / "pkg"
    inner.mkdir()
    (inner / "go.sh").write_text("python train.py --foo\n")
    made = argparse_of(inner, "--lr")
    argparse_of(tmp_path, "--foo")
    assert read_launchers([inner / "go.sh"], [made], tmp_path, Installed()).parser_requests == ()


def test_a_here_document_for_a_shell_is_read(tmp_path: Path) -> None:
    text = "sbatch <<EOF\n#!/bin/bash\npython train.py --foo\nEOF\n"
    reading = read(tmp_path, text, argparse_of(tmp_path, "--lr"))
    ((given, _),) = reading.parser_requests[0].unknown
    assert (given.name, given.line) == ("foo", 3)
    assert refused(read(tmp_path, text.replace("sbatch", "cat"), argparse_of(tmp_path, "--lr"))) == []


def test_the_config_that_a_launcher_names_is_read_by_its_script(tmp_path: Path) -> None:
    made = dataclasses_of(tmp_path, kind="TrlParser")
    (tmp_path / "a.yaml").write_text("learning_rate: 1\npacked: true\nwarmup_ratio: 0.1\n")
    for reading in (
        read(tmp_path, "accelerate launch train.py --config a.yaml\n", made),
        read_command(["python", "train.py", "--config", "a.yaml"], [made], tmp_path, tmp_path, Installed()),
    ):
        (named,) = reading.named
        assert (named.file, named.parsers) == (tmp_path / "a.yaml", (made,))
        configs = read_configs([], [made], Installed(), tmp_path, named=reading.named)
        assert [word.name for word in hold(configs.requests, Installed()).unknown] == ["warmup_ratio"]  # type: ignore[arg-type]


def test_the_config_of_accelerate_is_named(tmp_path: Path) -> None:
    (tmp_path / "acc.yaml").write_text("distributed_type: NO\n")
    reading = read(tmp_path, "accelerate launch --config_file acc.yaml other.py\n")
    assert [(named.file.name, named.tool, named.via) for named in reading.named] == [
        ("acc.yaml", "accelerate launch", "go.sh:1")
    ]


def test_a_file_that_is_gone_is_unread(tmp_path: Path) -> None:
    (unread,) = read_launchers([tmp_path / "gone.sh"], [], tmp_path).unread
    assert unread.path.name == "gone.sh"
