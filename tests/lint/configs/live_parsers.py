"""What the real parsers do with each config and command line of the tests, printed as one JSON object.

Run in a process of its own: importing what they need takes longer than all the tests.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accelerate.commands.config.config_args import load_config_from_file
from accelerate.commands.launch import launch_command_parser
from transformers import HfArgumentParser, TrainingArguments
from trl import DatasetMixtureConfig, TrlParser


@dataclass
class Own:
    rate: float = 0.1
    steps: int = 1
    packed: bool = True
    schedule: dict | None = field(default=None)


def outcome(call: Callable[[], Any]) -> str:
    """Return what a call gives, or the kind and the beginning of what it raises."""
    said = io.StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(io.StringIO()):
            return repr(call())
    except (TypeError, ValueError, SystemExit) as error:
        return f"{type(error).__name__}: {error} {said.getvalue()[-300:]}"


def main() -> None:
    folder = Path(tempfile.mkdtemp())

    def file(text: str, name: str = "c.yaml") -> str:
        (folder / name).write_text(text)
        return str(folder / name)

    def own(*args: str, **more: Any) -> Any:
        return HfArgumentParser(Own).parse_args_into_dataclasses(list(args), look_for_args_file=False, **more)

    def trl(text: str, *args: str, **more: Any) -> Any:
        return TrlParser(Own).parse_args_and_config(["--config", file(text), *args], **more)

    def arguments(text: str) -> Any:
        (made,) = HfArgumentParser(TrainingArguments).parse_yaml_file(file(text))
        return made.learning_rate

    def environment() -> Any:
        trl("env:\n  AFFIDAVIT_LIVE: 1\nrate: 0.2\n")
        return os.environ.pop("AFFIDAVIT_LIVE", "")

    def abbreviated() -> Any:
        plain = argparse.ArgumentParser()
        plain.add_argument("--learning_rate", type=float)
        return plain.parse_args(["--learn", "0.5"])

    read = HfArgumentParser(Own)
    print(
        json.dumps(
            {
                "yaml unknown": outcome(lambda: read.parse_yaml_file(file("rte: 0.2\n"))),
                "yaml allowed": outcome(lambda: read.parse_yaml_file(file("rte: 0.2\n"), allow_extra_keys=True)),
                "json unknown": outcome(lambda: read.parse_json_file(file('{"rte": 0.2}', "c.json"))),
                "dict unknown": outcome(lambda: read.parse_dict({"rte": 0.2})),
                "cli unknown": outcome(lambda: own("--rte", "0.2")),
                "cli remaining": outcome(lambda: own("--rte", "0.2", return_remaining_strings=True)[0]),
                "cli dashes": outcome(lambda: own("--no-packed", "--ra", "0.3")),
                "trl unknown": outcome(lambda: trl("rte: 0.2\n")),
                "trl dropped": outcome(lambda: trl("rte: 0.2\n", fail_with_unknown_args=False)),
                "trl env": outcome(environment),
                "trl text": outcome(lambda: trl("rate: 3e-4\n")),
                "trl nested text": outcome(lambda: trl("schedule:\n  min_lr: 1e-6\n")[0].schedule),
                "yaml text": outcome(lambda: arguments("output_dir: x\nuse_cpu: true\nlearning_rate: 3e-4\n")),
                "yaml number": outcome(lambda: arguments("output_dir: x\nuse_cpu: true\nlearning_rate: 3.0e-4\n")),
                "yaml quoted": outcome(lambda: arguments('output_dir: x\nuse_cpu: true\nwarmup_steps: "0.1"\n')),
                "yaml removed": outcome(lambda: arguments("output_dir: x\nuse_cpu: true\nwarmup_ratio: 0.1\n")),
                "yaml twice": outcome(lambda: read.parse_yaml_file(file("rate: 0.2\nrate: 0.3\n"))),
                "argparse short": outcome(abbreviated),
                "mixture row": outcome(lambda: DatasetMixtureConfig(datasets=[{"path": "x", "splt": "train"}])),
                "cluster": outcome(
                    lambda: load_config_from_file(file("distributed_type: 'NO'\nnum_proceses: 2\n", "a.yaml"))
                ),
                "launch": outcome(lambda: launch_command_parser().parse_args(["--warmup_ratio", "0.1", "t.py"])),
                "launch short": outcome(
                    lambda: launch_command_parser().parse_args(["--num_proc", "2", "t.py"]).num_processes
                ),
            }
        ),
        file=sys.__stdout__,
    )


if __name__ == "__main__":
    main()
