"""What scripts declare for their command lines, what they drop, and what they never read."""

from __future__ import annotations

from pathlib import Path

import pytest
from script_world import project, sure

from affidavit.lint.scripts import Reading

HF = "from dataclasses import dataclass, field\nfrom transformers import HfArgumentParser, TrainingArguments\n"
MINE = (
    "@dataclass\nclass Mine:\n    seq_length: int = 512\n"
    "    name: str = field(default='x', metadata={'help': 'as seq_length'})\n"
)
ARGS = "import argparse\np = argparse.ArgumentParser()\n"


def _fields(reading: Reading) -> list[tuple[str, str, int]]:
    return [(one.kind, one.name, one.line) for one in reading.fields]


def test_options_with_their_names_lines_and_values(tmp_path: Path) -> None:
    text = ARGS + (
        "p.add_argument('--learning-rate', '--lr', type=float, default=3e-4)\n"
        "p.add_argument('--fp16', action='store_true')\n"
        "g = p.add_argument_group('x')\n"
        "g.add_argument('-o', dest='out', choices=['a', 'b'])\n"
        "s = p.add_subparsers()\nt = s.add_parser('train')\nt.add_argument('data')\n"
        "args = p.parse_args()\n"
    )
    (parser,) = project(tmp_path, train=text).parsers
    assert (parser.kind, parser.line, parser.lenient, parser.why_open) == ("argparse", 2, "", "")
    assert [(one.flags, one.dest, one.line, one.has_value, one.type, one.default) for one in parser.options] == [
        (("--learning-rate", "--lr"), "learning_rate", 3, True, "float", "0.0003"),
        (("--fp16",), "fp16", 4, False, "", ""),
        (("-o",), "out", 6, True, "", ""),
        (("data",), "data", 9, True, "", ""),
    ]
    assert parser.options[2].choices == ("a", "b")
    assert [(one.method, one.line) for one in parser.parses] == [("parse_args", 10)]


def test_dataclasses_installed_and_of_the_project(tmp_path: Path) -> None:
    text = (
        HF
        + MINE
        + (
            "@dataclass\nclass More(TrainingArguments):\n    extra: float = 1.0\n"
            "parser = HfArgumentParser((Mine, More, TrainingArguments))\n"
            "a, b, c = parser.parse_args_into_dataclasses()\nprint(a.seq_length, a.name, b.extra)\n"
        )
    )
    (parser,) = project(tmp_path, train=text).parsers
    mine, more, installed = parser.targets
    assert (parser.kind, parser.line) == ("HfArgumentParser", 10)
    first = mine.fields[0]
    assert (first.name, first.line, first.annotation, first.default) == ("seq_length", 5, "int", "512")
    assert (mine.name, mine.is_first_party, mine.bases) == ("train.Mine", True, ())
    assert ([one.name for one in more.fields], more.bases) == (["extra"], ("transformers.TrainingArguments",))
    assert (installed.name, installed.is_first_party) == ("transformers.TrainingArguments", False)


LENIENT = {
    "parser.parse_dict({}, allow_extra_keys=True)": "allow_extra_keys=True",
    "parser.parse_yaml_file('a.yaml', allow_extra_keys=True)": "allow_extra_keys=True",
    "parser.parse_json_file('a.json', allow_extra_keys=True)": "allow_extra_keys=True",
    "parser.parse_args_and_config(fail_with_unknown_args=False)": "fail_with_unknown_args=False",
    "a, rest = parser.parse_args_into_dataclasses(return_remaining_strings=True)": (
        "return_remaining_strings=True, whose rest is dropped"
    ),
    "a, rest = parser.parse_known_args()": "parse_known_args, whose rest is dropped",
    "a = parser.parse_known_args()[0]": "parse_known_args, whose rest is dropped",
    "a, rest = parser.parse_known_args()\nif rest:\n    raise ValueError(rest)": "",
    "a, rest = parser.parse_args_into_dataclasses(return_remaining_strings=True)\nprint(rest)": "",
    "parser.parse_dict({})": "",
    "parser.parse_dict({}, allow_extra_keys=False)": "",
    "parser.parse_args_and_config()": "",
    "parser.parse_args_and_config(fail_with_unknown_args=True)": "",
}


@pytest.mark.parametrize("use", LENIENT)
def test_a_parser_that_drops_what_it_does_not_know_says_why(use: str, tmp_path: Path) -> None:
    text = "from trl import SFTConfig, TrlParser\nparser = TrlParser((SFTConfig,))\n"
    (parser,) = project(tmp_path, train=f"{text}{use}\n").parsers
    assert (parser.kind, parser.lenient) == ("TrlParser", LENIENT[use])


def test_the_file_that_is_parsed_is_named(tmp_path: Path) -> None:
    (parser,) = project(tmp_path, train=HF + "HfArgumentParser(TrainingArguments).parse_yaml_file('a.yaml')\n").parsers
    assert [(one.method, one.file, one.line) for one in parser.parses] == [("parse_yaml_file", "a.yaml", 3)]


def test_a_literal_dict_that_is_parsed_is_a_request(tmp_path: Path) -> None:
    text = HF + "HfArgumentParser(TrainingArguments).parse_dict({'lerning_rate': 1})\n"
    assert sure(project(tmp_path, train=text)) == [("transformers.TrainingArguments", "lerning_rate:3")]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("p.add_argument('--x', type=bool, default=False)\n", [("bool", "--x", 3)]),
        ("def f(parser):\n    parser.add_argument('--x', '-x', type=bool)\n", [("bool", "--x", 4)]),
        ("p.add_argument('--x', type=int)\n", []),
        ("p.add_argument('--x', action='store_true')\n", []),
        ("p.add_argument('--x', type=strtobool)\n", []),
        ("p.add_argument('--x', type=bool, action=argparse.BooleanOptionalAction)\n", []),
    ],
)
def test_type_bool(use: str, expected: list[tuple[str, str, int]], tmp_path: Path) -> None:
    assert _fields(project(tmp_path, train=ARGS + use)) == expected


UNREAD = {
    "never": "args = p.parse_args()\nprint(args.batch_size)\n",
    "only printed whole": "args = p.parse_args()\nprint(args, args.batch_size)\n",
    "through a function that reads another": ("def main(args):\n    return args.batch_size\nmain(p.parse_args())\n"),
    "from a function": "def get():\n    return p.parse_args()\nargs = get()\nprint(args.batch_size)\n",
    "set and not read": "args = p.parse_args()\nargs.seq_length = 1\nprint(args.batch_size)\n",
    "known args": "args, rest = p.parse_known_args()\nprint(args.batch_size, rest)\n",
}
READ = {
    "an attribute": "args = p.parse_args()\nprint(args.batch_size, args.seq_length)\n",
    "an attribute in a function": "def f(a):\n    return a.seq_length\nargs = p.parse_args()\nprint(args.batch_size)\n",
    "getattr": "args = p.parse_args()\nprint(args.batch_size, getattr(args, 'seq_length'))\n",
    "vars": "args = p.parse_args()\nprint(args.batch_size)\nd = vars(args)\n",
    "__dict__": "args = p.parse_args()\nprint(args.batch_size)\nd = args.__dict__\n",
    "handed to somebody": "import other\nargs = p.parse_args()\nprint(args.batch_size)\nother.main(args)\n",
    "kept on an object": "args = p.parse_args()\nprint(args.batch_size)\nclass A: pass\nA.args = args\n",
    "kept in a dict": "args = p.parse_args()\nprint(args.batch_size)\nD = [1]\nD[0] = args\n",
    "kept in a list": "args = p.parse_args()\nprint(args.batch_size)\nother = [args]\nsomething(other)\n",
    "made global": (
        "args = None\ndef main():\n    global args\n    args = p.parse_args()\n    print(args.batch_size)\nmain()\n"
    ),
    "given back to nobody known": "def get():\n    return p.parse_args()\nREGISTRY['x'] = get\nprint(x.batch_size)\n",
    "a name that is computed": "args = p.parse_args()\nprint(args.batch_size)\nfor n in NAMES:\n    getattr(args, n)\n",
    "yielded": "def get():\n    yield p.parse_args()\nprint(x.batch_size)\n",
    "the parser handed away": "import other\nother.add(p)\nargs = p.parse_args()\nprint(args.batch_size)\n",
    "deep in the project": (
        "def a(x):\n    b(x)\ndef b(x):\n    c(x)\ndef c(x):\n    d(x)\ndef d(x):\n    e(x)\nargs = p.parse_args()\n"
        "print(args.batch_size)\na(args)\n"
    ),
    "nothing is parsed here": "print(x.batch_size)\n",
    "a namespace of its own": "args = p.parse_args(None, SPACE)\nprint(args.batch_size)\n",
}
OPTIONS = "p.add_argument('--batch_size', type=int)\np.add_argument('--seq_length', type=int)\n"


@pytest.mark.parametrize("use", UNREAD)
def test_an_option_that_nobody_reads(use: str, tmp_path: Path) -> None:
    reading = project(tmp_path, train=ARGS + OPTIONS + UNREAD[use])
    assert _fields(reading) == [("unread", "seq_length", 4)]
    assert reading.fields_examined == 2


@pytest.mark.parametrize("use", READ)
def test_an_option_that_may_be_read(use: str, tmp_path: Path) -> None:
    assert _fields(project(tmp_path, train=ARGS + OPTIONS + READ[use])) == []


def test_an_option_that_a_file_reads_which_watches_nothing(tmp_path: Path) -> None:
    text = ARGS + OPTIONS + "args = p.parse_args()\nprint(args.batch_size)\n"
    assert _fields(project(tmp_path, train=text, other="def f(a):\n    return a.seq_length\n")) == []


def test_a_field_of_a_dataclass_that_nobody_reads(tmp_path: Path) -> None:
    text = HF + MINE + "(mine,) = HfArgumentParser(Mine).parse_args_into_dataclasses()\nprint(mine.name)\n"
    reading = project(tmp_path, train=text)
    assert _fields(reading) == [("unread", "seq_length", 5)]
    assert _fields(project(tmp_path, train=text + "print(mine.seq_length)\n")) == []


def test_the_names_that_are_read(tmp_path: Path) -> None:
    names = project(tmp_path, train=ARGS + "a.loaded\na.stored = 1\na.same == 1\ngetattr(a, 'text')\n").read_names
    assert all(name in names for name in ("loaded", "same", "text"))
    assert "stored" not in names


LATE = {
    "a = TrainingArguments()\na.warmup_ratio = .1\n": [("transformers.TrainingArguments", "warmup_ratio", 4)],
    "a = TrainingArguments()\nsetattr(a, 'warmup_ratio', .1)\n": [
        ("transformers.TrainingArguments", "warmup_ratio", 4)
    ],
    "(a,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\na.warmup_ratio = .1\n": [
        ("transformers.TrainingArguments", "warmup_ratio", 4)
    ],
    "@dataclass\nclass More(TrainingArguments):\n    extra: int = 1\na = More()\na.extra = 2\na.warmup_ratio = .1\n": [
        ("transformers.TrainingArguments", "warmup_ratio", 8)
    ],
    "def f(a):\n    a.warmup_ratio = .1\n": [],
    "def f(a):\n    a.warmup_ratio = .1\nf(TrainingArguments())\n": [
        ("transformers.TrainingArguments", "warmup_ratio", 4)
    ],
    "a = TrainingArguments()\nif hasattr(a, 'warmup_ratio'):\n    a.warmup_ratio = .1\n": [],
    "from transformers import AutoModel\nm = AutoModel.from_pretrained('x')\nm.odd = 1\n": [],
    "a = TrainingArguments()\na = wrap(a)\na.warmup_ratio = .1\n": [],
}


@pytest.mark.parametrize("text", LATE)
def test_an_attribute_that_is_set_after_construction(text: str, tmp_path: Path) -> None:
    reading = project(tmp_path, train=HF + text)
    assert [(one.callee, one.name, one.line) for one in reading.late] == LATE[text]


def test_the_parsed_options_reach_a_call_as_a_dict(tmp_path: Path) -> None:
    text = (
        ARGS
        + OPTIONS
        + (
            "from transformers import TrainingArguments\nargs = p.parse_args()\ndel args.batch_size\n"
            "TrainingArguments(**vars(args))\n"
        )
    )
    assert sure(project(tmp_path, train=text)) == [("transformers.TrainingArguments", "seq_length:4")]


def test_a_dataclass_reaches_a_call_as_a_dict(tmp_path: Path) -> None:
    text = (
        HF
        + MINE
        + (
            "from dataclasses import asdict\n(mine,) = HfArgumentParser(Mine).parse_args_into_dataclasses()\n"
            "TrainingArguments(**asdict(mine))\n"
        )
    )
    assert sure(project(tmp_path, train=text)) == [("transformers.TrainingArguments", "seq_length:5 name:6")]


@pytest.mark.parametrize(
    ("action", "flags"),
    [
        ("argparse.BooleanOptionalAction", ("--shuffle", "-s", "--no-shuffle")),
        ("OnOrOff", ("--shuffle", "-s", "--no-shuffle")),
        ("'store_true'", ("--shuffle", "-s")),
    ],
)
def test_flags_that_an_action_adds(tmp_path: Path, action: str, flags: tuple[str, ...]) -> None:
    """What an action of the project's own adds is not known; that it may add the same is."""
    text = ARGS + f"p.add_argument('--shuffle', '-s', action={action})\nargs = p.parse_args()\n"
    reading = project(tmp_path, train=text)
    assert [one.flags for one in reading.parsers[0].options] == [flags]
    assert _fields(reading) == [("unread", "shuffle", 3)] and "--shuffle is parsed" in reading.fields[0].said


def test_how_many_values_an_option_takes_and_whether_it_may_be_shortened(tmp_path: Path) -> None:
    text = "import argparse\np = argparse.ArgumentParser(allow_abbrev=False)\n"
    text += "p.add_argument('--layers', nargs='+')\np.add_argument('--sizes', nargs=2)\np.add_argument('--one')\n"
    (parser,) = project(tmp_path, train=text).parsers
    assert [one.nargs for one in parser.options] == ["'+'", "2", ""]
    assert not parser.allow_abbrev
    (parser,) = project(tmp_path, train=ARGS).parsers
    assert parser.allow_abbrev
